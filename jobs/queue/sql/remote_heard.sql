-- The service gave a sign of life, and so many lines with it.
UPDATE remote_run SET heard_at = clock_timestamp(), log_lines = log_lines + %(lines)s WHERE id = %(id)s
