UPDATE notice_due SET tries = tries + 1 WHERE id = ANY (%(ids)s)
