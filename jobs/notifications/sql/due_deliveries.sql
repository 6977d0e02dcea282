SELECT EXISTS (SELECT FROM alert_delivery
                WHERE state = 'PENDING' AND due_at <= coalesce(%(now)s::timestamptz, clock_timestamp())) AS due
