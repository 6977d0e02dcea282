-- What somebody has not read, and all there is for them, newest first.
CREATE INDEX notification_of ON "Notification" ("userId", "createdAt" DESC, id DESC);
-- How many are unread is on every page; those that were read grow without end.
CREATE INDEX notification_unread ON "Notification" ("userId") WHERE NOT read;
CREATE INDEX membership_of ON "Membership" ("tenantId");
