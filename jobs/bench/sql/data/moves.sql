-- Every change of state that the stories tell, with the seconds spent in the state that was left.
CREATE TEMP TABLE bench_move AS
WITH attempt AS MATERIALIZED (
    SELECT s.id, s.tenant, s.type, s.fate, s.failure_type, s.fingerprint, s.error, k AS attempt,
           s.at + s.wait + (k - 1) * s.round AS started,
           s.at + s.wait + (k - 1) * s.round
           + CASE WHEN k <= s.retries OR s.fate = 'FAILED' THEN s.round - interval '61 s'
                  ELSE make_interval(secs => s.seconds) END AS ended,
           CASE WHEN k <= s.retries THEN 'RETRY_WAIT' ELSE s.fate END AS ends_in,
           CASE k WHEN 1 THEN extract(epoch FROM s.wait) ELSE 1 END AS waited
      FROM bench_story s
     CROSS JOIN LATERAL generate_series(1, CASE s.fate WHEN 'QUEUED' THEN 0 WHEN 'CANCELLED' THEN 0
                                                       WHEN 'RETRY_WAIT' THEN 1 ELSE s.retries + 1 END) k
), move AS (
    SELECT id, tenant, type, NULL AS source, 'QUEUED' AS target, at, 0 AS attempt, NULL::timestamptz AS started,
           0.0 AS spent, NULL AS failure_type, NULL AS fingerprint, NULL AS error
      FROM bench_story
    UNION ALL
    SELECT id, tenant, type, 'QUEUED', 'CANCELLED', at + wait, 0, NULL, extract(epoch FROM wait), NULL, NULL, NULL
      FROM bench_story
     WHERE fate = 'CANCELLED'
    UNION ALL
    SELECT id, tenant, type, 'QUEUED', 'RUNNING', started, attempt - 1, started, waited, NULL, NULL, NULL
      FROM attempt
    UNION ALL
    SELECT id, tenant, type, 'RUNNING', ends_in, ended, attempt - (ends_in = 'DONE')::integer, started,
           extract(epoch FROM ended - started),
           CASE WHEN ends_in <> 'DONE' THEN failure_type END, CASE WHEN ends_in <> 'DONE' THEN fingerprint END,
           CASE WHEN ends_in <> 'DONE' THEN error END
      FROM attempt
     WHERE ends_in <> 'RUNNING'
    UNION ALL
    SELECT id, tenant, type, 'RETRY_WAIT', 'QUEUED', ended + interval '60 s', attempt, started, 60, NULL, NULL, NULL
      FROM attempt
     WHERE ends_in = 'RETRY_WAIT' AND fate <> 'RETRY_WAIT'
)
SELECT id, tenant, type, source, target, at, attempt, started, spent::double precision AS spent, failure_type,
       fingerprint, error,
       detiq_state(source, source = 'FAILED') AS from_state, detiq_state(target, target = 'FAILED') AS to_state
  FROM move
