-- Who was or will be told that it opened. Locked: a message that is being sent counts as sent.
SELECT d.id, d.channel_id, d.attempts, d.state, c.enabled, c.quiet_from, c.quiet_to, c.zone
  FROM alert_delivery d JOIN alert_channel c ON c.id = d.channel_id
 WHERE d.alert_id = %(alert_id)s AND d.event = 'opened'
   FOR UPDATE OF d
