SELECT * FROM detiq_turn(%(worker)s, %(ends)s::jsonb, %(slots)s, %(types)s::text[], %(tenant_cap)s, %(type_caps)s::jsonb, %(after)s,
                         %(relief)s, %(strict)s, %(quiet)s)
