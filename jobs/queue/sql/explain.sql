SELECT *, clock_timestamp() AS at FROM detiq_explain(%(ids)s::text[], %(tenant_cap)s, %(type_caps)s::jsonb)
