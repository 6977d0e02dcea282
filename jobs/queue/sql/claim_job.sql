SELECT * FROM detiq_claim_job(%(worker)s, %(id)s, %(tenant_cap)s, %(type_caps)s::jsonb)
