SELECT pruned, more FROM detiq_prune_jobs(make_interval(secs => %(keep_seconds)s), %(limit)s)
