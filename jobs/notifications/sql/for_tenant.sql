-- The tables of another program may be readable for one tenant at a time only: this says for which.
SELECT set_config('app.current_tenant', %(tenant)s, true)
