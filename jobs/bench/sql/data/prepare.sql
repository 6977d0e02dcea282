-- What the data is made from. Types by weight; incidents of some hours, in which one cause prevails.
CREATE TEMP TABLE bench_type AS
SELECT type, (sum(weight) OVER w - weight)::double precision / 100 AS low,
       (sum(weight) OVER w)::double precision / 100 AS high, seconds
  FROM (VALUES (1, 'CRAWL', 34, 90.0), (2, 'DISCOVER', 10, 40), (3, 'GENERATE_TESTS', 12, 25),
               (4, 'GENERATE_SCREEN_TESTS', 8, 20), (5, 'RUN_TEST_SUITE', 14, 150), (6, 'ARTIFACT_INTEL', 8, 12),
               (7, 'CAPTURE_STEPS', 6, 60), (8, 'VISUAL_REGRESSION', 4, 45), (9, 'GENERATE_SCRIPT', 2, 15),
               (10, 'GENERATE_DATA', 2, 8)) AS t (place, type, weight, seconds)
WINDOW w AS (ORDER BY place);

CREATE TEMP TABLE bench_cause (
    number       integer PRIMARY KEY,
    failure_type text NOT NULL,
    retries      integer NOT NULL,
    template     text NOT NULL
);
CREATE TEMP TABLE bench_print (
    type        text NOT NULL,
    cause       integer NOT NULL,
    fingerprint text NOT NULL,
    PRIMARY KEY (type, cause)
);

CREATE TEMP TABLE bench_incident AS
SELECT i AS number, now() - random() * interval '90 days' AS since,
       interval '30 min' + random() * interval '4 hours' AS length,
       1 + floor(random() * 24)::integer AS cause
  FROM generate_series(1, 40) i;
