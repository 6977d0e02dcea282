-- All jobs, newest first, for lists that no narrower index serves. It says what is true of every job, for the planner would
-- also take it for one tenant or type of which there seem to be many, and walk past millions of others' jobs to find them.
CREATE INDEX job_list_of_all ON "PlatformJob" ("queuedAt" DESC, id DESC) WHERE "queuedAt" >= '-infinity';
