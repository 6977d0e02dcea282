DELETE FROM failure_rule WHERE id = %(id)s RETURNING id
