"""Alerts, their rules and channels, and every message that was or is to be sent."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now


class AlertRule(models.Model):
    """What an admin changed of a built-in rule."""

    name = models.TextField(primary_key=True)
    enabled = models.BooleanField()
    critical = models.BooleanField()
    threshold = models.IntegerField()
    minutes = models.IntegerField()
    version = models.IntegerField(default=1, db_default=1)
    updated_at = models.DateTimeField(db_default=Now())
    updated_by = models.TextField()

    class Meta:
        db_table = "alert_rule"

    def __str__(self) -> str:
        return self.name


class Alert(models.Model):
    """A condition that holds, or did. Without a tenant it is about all of them."""

    id = models.BigAutoField(primary_key=True)
    rule = models.TextField()
    subject = models.TextField(default="", db_default="")
    tenant_id = models.TextField(null=True)
    critical = models.BooleanField(default=False, db_default=False)
    title = models.TextField()
    detail = models.TextField(default="", db_default="")
    evidence_url = models.TextField(default="", db_default="")
    action_url = models.TextField(default="", db_default="")
    action_label = models.TextField(default="", db_default="")
    opened_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    acked_at = models.DateTimeField(null=True)
    acked_by = models.TextField(null=True)
    ack_note = models.TextField(null=True)

    class Meta:
        db_table = "alert"
        ordering: ClassVar = ["-opened_at", "-id"]

    def __str__(self) -> str:
        return self.title


class AlertChannel(models.Model):
    """Where alerts go. Target and secret are encrypted (`jobs.notifications.vault`)."""

    id = models.BigAutoField(primary_key=True)
    name = models.TextField(unique=True)
    kind = models.TextField()
    target = models.TextField()
    secret = models.TextField(default="", db_default="")
    shown = models.TextField()
    enabled = models.BooleanField(default=True, db_default=True)
    only_critical = models.BooleanField(default=False, db_default=False)
    quiet_from = models.TimeField(null=True)
    quiet_to = models.TimeField(null=True)
    zone = models.TextField(default="UTC", db_default="UTC")
    version = models.IntegerField(default=1, db_default=1)
    updated_at = models.DateTimeField(db_default=Now())
    updated_by = models.TextField()

    class Meta:
        db_table = "alert_channel"

    def __str__(self) -> str:
        return self.name


class AlertDelivery(models.Model):
    """One message to one channel, until it is sent or given up."""

    id = models.TextField(primary_key=True)
    alert = models.ForeignKey(Alert, null=True, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.ForeignKey(AlertChannel, on_delete=models.CASCADE, related_name="deliveries")
    event = models.TextField()
    state = models.TextField(default="PENDING", db_default="PENDING")
    attempts = models.IntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True)
    last_error = models.TextField(null=True)

    class Meta:
        db_table = "alert_delivery"

    def __str__(self) -> str:
        return f"{self.event} to {self.channel_id}: {self.state}"


class TypeHour(models.Model):
    """Jobs of a type that were done and that came in a whole hour (UTC)."""

    pk = models.CompositePrimaryKey("hour", "type")
    hour = models.DateTimeField()
    type = models.TextField()
    done = models.BigIntegerField()
    came = models.BigIntegerField()

    class Meta:
        db_table = "type_hour"

    def __str__(self) -> str:
        return f"{self.hour} {self.type}: {self.done}"
