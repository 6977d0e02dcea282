-- Callbacks of one run come one after another.
SELECT id FROM remote_run WHERE id = %(id)s FOR UPDATE
