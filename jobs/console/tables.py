"""The jobs table: its columns, and how each is shown."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import django_tables2 as tables
from django.utils.safestring import SafeString

from jobs.console import words
from jobs.console.links import job_url
from jobs.domain.states import state
from jobs.templatetags import console as tags
from jobs.templatetags.markup import format_html


def _cell(th: str = "", td: str = "") -> dict[str, dict[str, str]]:
    return {"th": {"class": th} if th else {}, "td": {"class": td} if td else {}}


class JobsTable(tables.Table):
    """Rows are dicts of `queries.jobs`. Sorting stays with the address's filter: newest first, by an index."""

    tick = tables.Column(
        empty_values=(), attrs=_cell("w-check", "w-check"),
        verbose_name=format_html('<input type="checkbox" data-select-page aria-label="{}">', "Select the page"),
    )  # fmt: skip
    state = tables.Column(empty_values=(), verbose_name="State", attrs=_cell("w-140", "m-state"))
    type = tables.Column(verbose_name="Type", attrs=_cell("w-140 low", "ink2 low"))
    job = tables.Column(empty_values=(), verbose_name="Job", attrs=_cell("w-200", "m-title"))
    tenant_id = tables.Column(verbose_name="Tenant", attrs=_cell("w-100", "m-sub"))
    doing = tables.Column(empty_values=(), verbose_name="What it is doing or why not", attrs=_cell("", "m-why ink2"))
    attempt = tables.Column(empty_values=(), verbose_name="Attempt", attrs=_cell("w-60 r low", "r low"))
    priority = tables.Column(verbose_name="Prio", attrs=_cell("w-40 r lower", "r lower"))
    queued_at = tables.Column(verbose_name="Queued", attrs=_cell("w-80 r", "r m-time"))
    ran = tables.Column(empty_values=(), verbose_name="Ran", attrs=_cell("w-80 r lower", "r lower"))

    class Meta:
        orderable = False
        attrs = {"id": "jobs-table", "class": "table bleed-rows stack-rows"}
        row_attrs = {
            "id": lambda record: "job-" + sha256(record["id"].encode()).hexdigest()[:16],
            "data-state": lambda record: state(record["status"], record["dlq"]),
            "data-id": lambda record: record["id"],
        }

    def __init__(self, rows: list[dict[str, Any]], gates: words.Gates, **kwargs: Any) -> None:
        super().__init__(rows, **kwargs)
        self.gates = gates
        self.caption = "Jobs"

    def lines(self) -> list[SafeString]:
        """The rows as markup. The library's own way looks every function and attribute up again for each cell."""
        cells: list[tuple[str, Any]] = []
        for column in self.columns:
            td: Any = column.attrs["td"]
            cells.append((td.as_html(), getattr(self, f"render_{column.name}")))
        attrs: dict[str, Callable[[dict[str, Any]], str]] = dict(self.Meta.row_attrs)
        row = "<tr " + " ".join(f'{name}="{{}}"' for name in attrs) + ">"
        row += "".join(f"<td {html}>{{}}</td>" for html, _ in cells) + "</tr>"
        return [
            format_html(row, *(value(record) for value in attrs.values()), *(render(record) for _, render in cells))
            for record in self.data
        ]

    def render_tick(self, record: dict[str, Any]) -> SafeString:
        return format_html('<input type="checkbox" data-select aria-label="Select {}">', words.title(record))

    def render_state(self, record: dict[str, Any]) -> SafeString:
        return tags.state(record["status"], record["dlq"])

    def render_type(self, record: dict[str, Any]) -> SafeString:
        value = record["type"]
        return format_html('<span title="{}">{}</span>', value, value or "(empty)")

    def render_job(self, record: dict[str, Any]) -> SafeString:
        name, job_id = words.title(record), record["id"]
        return format_html(
            '<a class="row-link" href="{}" title="{} · {}">{}</a> <span class="id">{}</span>',
            job_url(job_id), name, job_id, name, job_id[-4:],
        )  # fmt: skip

    def render_tenant_id(self, record: dict[str, Any]) -> SafeString:
        return format_html(
            '<span class="m-only">{} · </span><span title="{}">{}</span>',
            record["type"], record["tenant_id"], record["tenant_id"],
        )  # fmt: skip

    def render_doing(self, record: dict[str, Any]) -> SafeString:
        doing, clock = words.doing(record, self.gates), {"server_now": self.gates.now}
        held = SafeString('<span class="held">Held</span> ') if doing.held else ""
        bar: SafeString | str = ""
        if doing.bar is not None:
            figure = tags.progress(doing.bar)
            bar = format_html('<span class="bar-text">{}<span class="num">{} %</span></span> ', figure, doing.bar)
        until = format_html("{}, ", tags.until(clock, doing.until)) if doing.until else ""  # type: ignore[arg-type]
        return format_html('{}{}{}<span title="{}">{}</span>', held, bar, until, doing.text, doing.text)

    def render_attempt(self, record: dict[str, Any]) -> str:
        return words.attempt(record)

    def render_priority(self, record: dict[str, Any]) -> SafeString:
        value = record["priority"]
        return format_html('<span class="{}">{}</span>', "" if value else "none", tags.count(value))

    def render_queued_at(self, record: dict[str, Any]) -> SafeString:
        return tags.age({"server_now": self.gates.now}, record["queued_at"])  # type: ignore[arg-type]

    def render_ran(self, record: dict[str, Any]) -> str:
        return tags.duration(words.ran(record, self.gates.now))
