SELECT name, enabled, critical, threshold, minutes, version, updated_at, updated_by FROM alert_rule
