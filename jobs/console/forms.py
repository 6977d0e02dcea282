"""What people type: checked here, with the field named in every message."""

from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from jobs.console import ends
from jobs.console.ends import AT, AT_WORDS, End
from jobs.console.paging import storable
from jobs.console.permissions import LONGEST_PAUSE_SECONDS
from jobs.console.queries.db import database_now
from jobs.domain import moments
from jobs.domain.bulk import FASTEST, MOST_SAMPLES, PRIORITIES, Options
from jobs.domain.errors import InvalidInput
from jobs.domain.groups import CHOICES, WORDS
from jobs.domain.values import check_json
from jobs.operations.actions import LONGEST_REASON as LONGEST_REASON
from jobs.queue.caps import HEAVIEST, LONGEST_NOTE, LONGEST_RUN_SECONDS

LONGEST_CONFIG = 1_000_000
LONGEST_NAME = 300

ENDS = [
    ("900", "in 15 min"),
    ("3600", "in 1 h"),
    ("14400", "in 4 h"),
    ("86400", "in 24 h"),
    (AT, AT_WORDS),
    ("", "when somebody lifts it"),
]


def clean_text(value: str) -> str:
    """The text without spaces around it. Raises for what PostgreSQL cannot store."""
    if not storable(value):
        raise ValidationError("It holds a character that cannot be stored (NUL or half of a pair).")
    return value.strip()


def problem(form: forms.Form, field: str) -> str:
    """What is wrong with a field, in a sentence; empty when nothing is."""
    return " ".join(str(error) for error in form.errors.get(field, []))


class TextField(forms.CharField):
    """A short text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": LONGEST_NAME, "strip": True} | kwargs)

    def to_python(self, value: Any) -> str:
        """NULs are refused with a message of their own."""
        return clean_text(super().to_python(value) or "")


class ReasonForm(forms.Form):
    """Why; kept in the audit trail."""

    reason = TextField(max_length=LONGEST_REASON, error_messages={"required": "Write why, in a few words."})


def reason_of(request: HttpRequest) -> str:
    """That of a form which has no other field to come back to. Raises `InvalidInput`."""
    form = ReasonForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("reason", "it is empty; say why")
    return str(form.cleaned_data["reason"])


class CapForm(ReasonForm):
    """A tenant's or a type's setting. `version` is the one that was seen; the cap itself is read by its own words."""

    cap = TextField(required=False, max_length=40)
    weight = forms.IntegerField(
        required=False, min_value=1, max_value=HEAVIEST, error_messages={"invalid": "It is no whole number."}
    )
    note = TextField(required=False, max_length=LONGEST_NOTE)
    max_run_seconds = forms.IntegerField(
        required=False, min_value=1, max_value=LONGEST_RUN_SECONDS, error_messages={"invalid": "It is no whole number."}
    )
    ends = forms.ChoiceField(
        required=False, choices=[(one, one) for one in ("keep", "back", "3600", "14400", "86400", AT, "")]
    )
    until = TextField(required=False, max_length=moments.LONGEST)
    until_offset = TextField(required=False, max_length=6)
    version = forms.IntegerField(required=False, min_value=0)


class RevealForm(ReasonForm):
    """Which value to show with its secrets."""

    value = forms.ChoiceField(choices=[(name, name) for name in ("config", "result", "checkpoint")])


class BulkForm(ReasonForm):
    """How a bulk action is done. `expected`: how many were shown, `at_least` when counting stopped there, at `shown_at`;
    `typed`: that number again, where nothing narrows it."""

    token = TextField(required=False, max_length=64)
    expected = forms.IntegerField(required=False, min_value=0, max_value=2**31)
    typed = TextField(required=False, max_length=20)
    checkpoint = forms.ChoiceField(choices=[("keep", ""), ("drop", "")], required=False)
    priority = forms.IntegerField(required=False, min_value=-PRIORITIES, max_value=PRIORITIES)
    rate = forms.IntegerField(required=False, min_value=1, max_value=FASTEST)
    brake_percent = forms.IntegerField(required=False, min_value=1, max_value=100)
    brake_of = forms.IntegerField(required=False, min_value=5, max_value=MOST_SAMPLES)
    brake_wait_minutes = forms.IntegerField(required=False, min_value=1, max_value=43_200)
    ramp = forms.BooleanField(required=False)
    idle_percent = forms.IntegerField(required=False, min_value=1, max_value=100)
    at_least = forms.BooleanField(required=False)
    shown_at = TextField(required=False, max_length=64)

    def options(self, first: Options) -> Options:
        """The choices of a valid form, on top of those of the address."""
        data = self.cleaned_data
        wait = data.get("brake_wait_minutes")
        return replace(
            first,
            keep_checkpoint=data.get("checkpoint") != "drop",
            priority=data.get("priority"),
            rate=data.get("rate"),
            ramp=bool(data.get("ramp") and data.get("rate")),
            idle_percent=data.get("idle_percent"),
            brake_percent=data.get("brake_percent"),
            brake_of=data.get("brake_of") or first.brake_of,
            brake_wait_seconds=wait * 60 if wait else None,
        )


class ResumeForm(ReasonForm):
    """Goes on with an operation, at another rate if one is given."""

    rate = forms.IntegerField(required=False, min_value=1, max_value=FASTEST)


class GroupForm(ReasonForm):
    """What somebody says of a failure group. `seen` is the state in which it was seen."""

    state = forms.ChoiceField(
        choices=[(state.value, WORDS[state]) for state in CHOICES], error_messages={"required": "Choose a state."}
    )
    owner = TextField(label="Owner", required=False)
    note = TextField(label="Note", required=False, max_length=LONGEST_REASON)
    seen = TextField(required=False, max_length=40)


class EnqueueForm(forms.Form):
    """A new job."""

    type = TextField(label="Type", max_length=100)
    tenant = TextField(label="Tenant")
    project = TextField(label="Project", required=False)
    name = TextField(label="Name", required=False, help_text="Pages show the type when it is empty.")
    priority = forms.IntegerField(
        label="Priority", initial=0, required=False, min_value=-1_000_000, max_value=1_000_000,
        help_text="Higher goes first.",
    )  # fmt: skip
    config = forms.CharField(
        label="Config, a JSON object", required=False, strip=True, initial="{}",
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false", "class": "mono"}),
    )  # fmt: skip
    reason = TextField(label="Reason, kept in the audit trail", required=False, max_length=LONGEST_REASON)
    token = forms.CharField(widget=forms.HiddenInput, max_length=64)

    def clean_priority(self) -> int:
        """0 when left empty."""
        return int(self.cleaned_data["priority"] or 0)

    def clean_config(self) -> dict[str, Any]:
        """The config as an object. Messages name the place in it."""
        return parse_config(self.cleaned_data["config"] or "{}")


def parse_config(text: str) -> dict[str, Any]:
    """JSON text as a job's config. Raises `ValidationError` naming what cannot be stored, and where."""
    try:
        value = check_json(text, max_bytes=LONGEST_CONFIG, field="config")
    except InvalidInput as error:
        raise ValidationError(f"{error.message[:1].upper()}{error.message[1:500]}.") from error
    if not isinstance(value, dict):
        raise ValidationError("It must be a JSON object: { … }.")
    return value


class PauseForm(ReasonForm):
    """Holds a scope until an end."""

    type = TextField(label="Type", required=False, max_length=100)
    tenant = TextField(label="Tenant", required=False)
    project = TextField(label="Project", required=False)
    everything = forms.BooleanField(required=False, label="Everything")
    ends = forms.ChoiceField(label="Ends", choices=ENDS, required=False, initial="3600")
    until = TextField(required=False, max_length=moments.LONGEST)
    until_offset = TextField(required=False, max_length=6)
    end = End()

    def clean(self) -> dict[str, Any]:
        """A pause without a scope has to say that it means everything."""
        data = super().clean() or {}
        if "ends" in data:
            self.end = ends.read(data, database_now())
        if self.end.problem:
            self.add_error("until", self.end.problem)
        scoped = any(data.get(name) for name in ("type", "tenant", "project"))
        if not self.errors and scoped == bool(data.get("everything")):
            raise ValidationError(
                "Name a type, a tenant or a project, or tick Everything." if not scoped else
                "Tick Everything, or name a scope; not both."
            )  # fmt: skip
        return data

    @property
    def ends_in_seconds(self) -> float | None:
        """None: it has no end."""
        return self.end.seconds

    @property
    def needs_admin(self) -> bool:
        """Longer than others than admins may pause."""
        seconds = self.ends_in_seconds
        return seconds is None or seconds > LONGEST_PAUSE_SECONDS
