INSERT INTO tenant_setting (tenant_id, cap, updated_by) VALUES (%s, %s, 'soak')
    ON CONFLICT (tenant_id) DO UPDATE SET cap = excluded.cap, updated_at = clock_timestamp()
