-- What somebody has not read, and all there is for them, newest first.
CREATE INDEX notification_of ON "Notification" ("userId", "createdAt" DESC, id DESC);
CREATE INDEX membership_of ON "Membership" ("tenantId");
