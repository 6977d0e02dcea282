SELECT counters, jobs FROM detiq_recount()
