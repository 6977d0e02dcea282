INSERT INTO "Membership" ("tenantId", "userId", role) VALUES (%(tenant)s, %(user)s, %(role)s)
