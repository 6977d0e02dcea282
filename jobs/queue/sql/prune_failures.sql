-- Counts of failures that no page shows any more: minutes after two days, the rest when the jobs go. A group goes when it
-- has not failed for as long and nobody has said anything of it; one that people spoke of stays, so that it is known
-- when it comes back.
WITH causes AS (
    DELETE FROM failure_cause
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM failure_cause
                              WHERE grain = 'm' AND at < now() - interval '2 days' LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
                       || ARRAY(SELECT ctid FROM failure_cause
                                 WHERE grain IN ('h', 'd') AND at < now() - make_interval(secs => %(keep_seconds)s)
                                 LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING 1
),
by_tenant AS (
    DELETE FROM failure_tenant
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM failure_tenant
                              WHERE grain = 'm' AND at < now() - interval '2 days' LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
                       || ARRAY(SELECT ctid FROM failure_tenant
                                 WHERE grain IN ('h', 'd') AND at < now() - make_interval(secs => %(keep_seconds)s)
                                 LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING 1
),
groups AS (
    DELETE FROM failure_group
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM failure_group
                              WHERE last_at < now() - make_interval(secs => %(keep_seconds)s) AND changed_by = ''
                              LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING fingerprint
),
tenants AS (
    DELETE FROM failure_group_tenant
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM failure_group_tenant
                              WHERE last_at < now() - make_interval(secs => %(keep_seconds)s)
                              LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING 1
),
pruned AS (
    SELECT (SELECT count(*) FROM causes) AS causes, (SELECT count(*) FROM by_tenant) AS by_tenant,
           (SELECT count(*) FROM groups) AS groups, (SELECT count(*) FROM tenants) AS tenants
)
SELECT (causes + by_tenant + groups + tenants)::integer AS pruned,
       greatest(causes, by_tenant, groups, tenants) >= %(limit)s AS more
  FROM pruned
