DELETE FROM notice_due WHERE id = ANY (%(ids)s)
