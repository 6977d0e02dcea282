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


class TallyFlow(models.Model):
    """The minutes of `TallyMinute` without tenants."""

    pk = models.CompositePrimaryKey("minute", "type", "from_state", "to_state", "bucket")
    minute = models.DateTimeField()
    type = models.TextField()
    from_state = models.TextField()
    to_state = models.TextField()
    bucket = models.SmallIntegerField()
    n = models.BigIntegerField()

    class Meta:
        db_table = "tally_flow"

    def __str__(self) -> str:
        return f"{self.minute} {self.type}: {self.n}"


class TallyTenant(models.Model):
    """Runs of a tenant that started in a minute, and the seconds that those took which ended in it, 900 each at most."""

    pk = models.CompositePrimaryKey("minute", "tenant_id")
    minute = models.DateTimeField()
    tenant_id = models.TextField()
    started = models.BigIntegerField()
    seconds = models.FloatField()

    class Meta:
        db_table = "tally_tenant"

    def __str__(self) -> str:
        return f"{self.minute} {self.tenant_id}: {self.seconds}"


class TallyType(models.Model):
    """How many jobs of a type are in a state: the sums of `TallyState`."""

    pk = models.CompositePrimaryKey("type", "state")
    type = models.TextField()
    state = models.TextField()
    n = models.BigIntegerField()

    class Meta:
        db_table = "tally_type"

    def __str__(self) -> str:
        return f"{self.type} {self.state}: {self.n}"
