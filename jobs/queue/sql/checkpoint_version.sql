SELECT "checkpointVersion" AS version FROM "PlatformJob" WHERE id = %(id)s
