SELECT count(*) AS n
  FROM (SELECT 1 FROM artifact_file f
         WHERE f.uploaded_at < now() - make_interval(secs => %(keep_seconds)s)
           AND NOT EXISTS (SELECT 1 FROM "ProjectArtifact" a WHERE a.id = f.artifact_id)
         LIMIT %(most)s) old
