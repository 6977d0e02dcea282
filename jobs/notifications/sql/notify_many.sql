-- One notification for each owner and admin of the tenant about many dead jobs of an hour; more of the same hour are added
-- to it, and make it unread again.
INSERT INTO "Notification" AS n (id, "tenantId", "userId", type, title, body, metadata)
SELECT 'notif_' || md5(%(key)s || chr(10) || m."userId")::uuid, %(tenant)s, m."userId", %(type)s,
       %(jobs)s || ' jobs' || %(said)s, %(body)s, jsonb_build_object('jobs', %(jobs)s::bigint)
  FROM (SELECT DISTINCT "userId" FROM "Membership"
         WHERE "tenantId" = %(tenant)s AND upper(role::text COLLATE "C") IN ('OWNER', 'ADMIN')) m
ON CONFLICT (id) DO UPDATE
   SET title = (n.metadata ->> 'jobs')::bigint + %(jobs)s || ' jobs' || %(said)s, body = EXCLUDED.body, read = false,
       metadata = jsonb_build_object('jobs', (n.metadata ->> 'jobs')::bigint + %(jobs)s)
RETURNING id
