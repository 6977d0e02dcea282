SELECT pg_notify('detiq_changed', '')
