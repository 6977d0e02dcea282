SELECT type, max_run_seconds FROM type_setting WHERE max_run_seconds IS NOT NULL
