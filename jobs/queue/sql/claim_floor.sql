SELECT detiq_claim_floor(%(least_dead)s::bigint, %(most_queued)s::integer, %(late_seconds)s::double precision) AS set
