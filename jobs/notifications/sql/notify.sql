-- A notification for each owner and admin of the tenant. Its id is made of what it is about and whom it is for: the same
-- thing told again is the same row.
INSERT INTO "Notification" (id, "tenantId", "userId", type, title, body, metadata)
SELECT 'notif_' || md5(n.key || chr(10) || m."userId")::uuid, %(tenant)s, m."userId", n.type, n.title, n.body, n.metadata::jsonb
  FROM unnest(%(keys)s::text[], %(types)s::text[], %(titles)s::text[], %(bodies)s::text[], %(metadata)s::text[])
       AS n (key, type, title, body, metadata)
 CROSS JOIN (SELECT DISTINCT "userId" FROM "Membership"
              WHERE "tenantId" = %(tenant)s AND upper(role::text COLLATE "C") IN ('OWNER', 'ADMIN')) m
ON CONFLICT (id) DO NOTHING
RETURNING id
