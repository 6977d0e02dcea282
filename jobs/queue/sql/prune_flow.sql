-- The overview's minutes, which no page shows for longer than a day.
WITH flow AS (
    DELETE FROM tally_flow
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM tally_flow
                              WHERE minute < now() - make_interval(secs => %(keep_seconds)s)
                              ORDER BY minute
                              LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING 1
),
tenants AS (
    DELETE FROM tally_tenant
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM tally_tenant
                              WHERE minute < now() - make_interval(secs => %(keep_seconds)s)
                              ORDER BY minute
                              LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING 1
),
pruned AS (SELECT (SELECT count(*) FROM flow) AS flow, (SELECT count(*) FROM tenants) AS tenants)
SELECT (flow + tenants)::integer AS pruned, greatest(flow, tenants) >= %(limit)s AS more FROM pruned
