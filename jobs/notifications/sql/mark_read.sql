UPDATE "Notification" SET read = true
 WHERE "userId" = %(user)s AND NOT read AND (%(ids)s::text[] IS NULL OR id = ANY (%(ids)s))
RETURNING id
