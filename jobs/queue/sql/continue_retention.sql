UPDATE sweep_duty SET looked_at = clock_timestamp() WHERE name = 'retention' AND looked_at = %(key)s RETURNING looked_at AS key
