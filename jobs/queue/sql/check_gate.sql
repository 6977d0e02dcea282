-- What claims had to obey: every change, in the order of their commits.
SELECT at, source, key, row FROM gate_history ORDER BY id
