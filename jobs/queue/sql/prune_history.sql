SELECT pruned, more FROM detiq_prune_history(make_interval(secs => %(keep_seconds)s), %(limit)s)
