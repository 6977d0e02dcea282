SELECT at FROM alert_mark WHERE name = %(name)s
