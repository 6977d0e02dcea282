SELECT id, only_critical, quiet_from, quiet_to, zone FROM alert_channel WHERE enabled ORDER BY id
