-- One row a job of this chunk, with what befell it. Tenants by Zipf; more by day than by night; the newest still live.
-- `fate`: the state it is in. `retries`: failed attempts that were tried again.
CREATE TEMP TABLE bench_story AS
SELECT s.*, substr(stamp, 1, 8) || '-' || substr(stamp, 9, 4) || '-7' || substr(noise, 1, 3) || '-8' || substr(noise, 4, 3)
            || '-' || substr(noise, 7, 12) AS id,
       'tenant-' || lpad(rank::text, 4, '0') AS tenant,
       'project-' || rank || '-' || n %% 7 AS project,
       c.failure_type, p.fingerprint, replace(c.template, '{n}', n::text) AS error,
       CASE WHEN s.fate = 'RETRY_WAIT' THEN 1
            WHEN s.fate = 'FAILED' THEN c.retries
            WHEN s.fate = 'DONE' AND s.fails THEN least(c.retries, 1 + (n %% 2)::integer)
            ELSE 0 END AS retries,
       -- From one attempt to the next: half a run, then a wait.
       make_interval(secs => s.seconds / 2 + 61) AS round
  FROM (SELECT n, r.spin, a.at, w.wait, lpad(to_hex((extract(epoch FROM a.at) * 1000)::bigint), 12, '0') AS stamp,
               md5(n::text) AS noise, l.live, f.fails,
               CASE WHEN l.running THEN (1 + (%(jobs)s - n) / 4)::integer
                    ELSE greatest(1, floor(exp(r.of_tenant * ln(%(tenants)s + 1))))::integer END AS rank,
               CASE WHEN l.running AND t.type = 'DISCOVER' THEN 'CRAWL' ELSE t.type END AS type,
               t.seconds * exp(r.normal * 0.7) AS seconds,
               coalesce(i.cause, 1 + floor(power(r.pick, 2) * 24)::integer) AS cause,
               CASE WHEN l.running THEN 'RUNNING'
                    WHEN l.live AND r.spin < 0.1 THEN 'RETRY_WAIT'
                    WHEN l.live THEN 'QUEUED'
                    WHEN f.fails AND r.spin < 0.35 THEN 'FAILED'
                    WHEN r.spin > 0.985 THEN 'CANCELLED'
                    ELSE 'DONE' END AS fate
          FROM generate_series(%(first)s::bigint, %(last)s::bigint) n
         -- Named after n, so that each row draws anew.
         CROSS JOIN LATERAL (SELECT n AS drawn, random() AS chance, random() AS spin, random() AS pick,
                                    random() AS of_type, random() AS of_tenant,
                                    random() + random() + random() - 1.5 AS normal) r
         CROSS JOIN LATERAL (SELECT n > %(jobs)s - %(live)s AS live, n > %(jobs)s - %(running)s AS running) l
         CROSS JOIN LATERAL (SELECT (n - 0.5) / greatest(1, %(jobs)s - %(live)s) AS share) x
         -- Early enough for all that follows to have happened by now.
         CROSS JOIN LATERAL (SELECT CASE WHEN l.running THEN now() - interval '4 min' - interval '1 hour' * r.spin
                                         WHEN l.live
                                         THEN now() - interval '15 min' - interval '6 hours' * ((%(jobs)s - n) / (%(live)s + 1.0))
                                         ELSE now() - interval '40 min' - interval '89 days' * (1 - x.share)
                                              + interval '3 hours' * sin(2 * pi() * 89 * x.share) END AS at) a
         CROSS JOIN LATERAL (SELECT make_interval(secs => 1 - ln(1 - r.pick * 0.999) * 20) AS wait) w
          JOIN bench_type t ON r.of_type >= t.low AND r.of_type < t.high
          LEFT JOIN LATERAL (SELECT number, cause FROM bench_incident
                              WHERE a.at >= since AND a.at < since + length LIMIT 1) i ON true
         CROSS JOIN LATERAL (SELECT r.chance < CASE WHEN i.number IS NULL THEN 0.07 ELSE 0.6 END AS fails) f) s
  JOIN bench_cause c ON c.number = s.cause
  JOIN bench_print p ON p.type = s.type AND p.cause = s.cause
 ORDER BY n
