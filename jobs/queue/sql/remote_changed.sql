-- Workers are told that a type came, went or changed.
SELECT pg_notify('detiq_remote', '')
