UPDATE alert SET seen_at = %(now)s, title = %(title)s, detail = %(detail)s, critical = %(critical)s,
                 evidence_url = %(evidence_url)s, action_url = %(action_url)s, action_label = %(action_label)s
 WHERE id = %(id)s
