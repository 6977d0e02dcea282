"""Counters. The triggers write deltas, the sweep folds them; a reader adds what is not folded yet."""

from django.db import models


class TallyDelta(models.Model):
    """A change of state not yet folded. Without a key: never read one by one."""

    minute = models.DateTimeField(primary_key=True)
    tenant_id = models.TextField()
    type = models.TextField()
    from_state = models.TextField(null=True)
    to_state = models.TextField(null=True)
    failure_type = models.TextField(null=True)
    bucket = models.SmallIntegerField(default=0, db_default=0)
    n = models.IntegerField()
    seconds = models.FloatField(default=0, db_default=0)

    class Meta:
        db_table = "tally_delta"

    def __str__(self) -> str:
        return f"{self.from_state} → {self.to_state}: {self.n}"


class TallyState(models.Model):
    """How many jobs of a tenant and type are in a state."""

    pk = models.CompositePrimaryKey("tenant_id", "type", "state")
    tenant_id = models.TextField()
    type = models.TextField()
    state = models.TextField()
    n = models.BigIntegerField()

    class Meta:
        db_table = "tally_state"

    def __str__(self) -> str:
        return f"{self.type} of {self.tenant_id} {self.state}: {self.n}"


class TallyMinute(models.Model):
    """How many jobs made which change in a minute (UTC), and how long they had been in the state they left."""

    pk = models.CompositePrimaryKey("minute", "type", "to_state", "from_state", "tenant_id", "failure_type", "bucket")
    minute = models.DateTimeField()
    tenant_id = models.TextField()
    type = models.TextField()
    from_state = models.TextField()
    to_state = models.TextField()
    failure_type = models.TextField()
    bucket = models.SmallIntegerField()
    n = models.BigIntegerField()
    seconds = models.FloatField()

    class Meta:
        db_table = "tally_minute"

    def __str__(self) -> str:
        return f"{self.minute} {self.type}: {self.n}"


class TallyTotal(models.Model):
    """The same since the beginning, by type."""

    pk = models.CompositePrimaryKey("type", "from_state", "to_state", "bucket")
    type = models.TextField()
    from_state = models.TextField()
    to_state = models.TextField()
    bucket = models.SmallIntegerField()
    n = models.BigIntegerField()
    seconds = models.FloatField()

    class Meta:
        db_table = "tally_total"

    def __str__(self) -> str:
        return f"{self.type} {self.from_state} → {self.to_state}: {self.n}"
