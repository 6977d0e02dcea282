SELECT hour, type, done, came FROM type_hour WHERE type = ANY (%(types)s) AND hour >= %(since)s
