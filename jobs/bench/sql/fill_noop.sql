-- Jobs that do nothing, queued with all that is kept for every job.
INSERT INTO {table} (id, "tenantId", type, config)
SELECT 'n-' || lpad(n::text, 9, '0'), 't-' || n %% %(tenants)s, %(type)s, jsonb_build_object('n', n)
  FROM generate_series(0, %(count)s - 1) n
