UPDATE alert SET closed_at = %(now)s WHERE id = %(id)s AND closed_at IS NULL RETURNING id
