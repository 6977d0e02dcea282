"""Artifacts: what tenants uploaded, what is known of each, a new file, another analysis."""

from typing import IO, Any, cast

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from jobs.artifacts.doctypes import DocType
from jobs.artifacts.storage import StorageFailed
from jobs.conf import conf
from jobs.console import scope, words
from jobs.console.commands import command
from jobs.console.forms import LONGEST_REASON, ReasonForm, TextField, problem
from jobs.console.paging import storable
from jobs.console.permissions import can, who_may
from jobs.console.queries import artifacts as read
from jobs.console.queries import ledger
from jobs.console.queries.artifacts import STATES, ArtifactFilter
from jobs.console.queries.db import database_now, limited
from jobs.console.uploads import too_large
from jobs.console.views.once import once, token
from jobs.console.views.render import action, done, person, show
from jobs.domain.errors import InvalidInput
from jobs.operations import artifacts as operations
from jobs.operations.artifacts import ArtifactNotFound
from jobs.rows import Row


class UploadForm(forms.Form):
    """A new file."""

    tenant = TextField(label="Tenant")
    project = TextField(label="Project", required=False)
    file = forms.FileField(
        label="File", allow_empty_file=True, max_length=None,
        error_messages={"required": "Choose a file.", "missing": "Choose a file.", "invalid": "Choose a file."},
    )  # fmt: skip
    reason = TextField(label="Reason, kept in the audit trail", required=False, max_length=LONGEST_REASON)
    token = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False)


def artifact_url(artifact_id: str) -> str:
    """The page of an artifact; its id is any text."""
    return "/artifacts/artifact/?" + urlencode({"id": artifact_id})


@require_safe
def artifacts(request: HttpRequest) -> HttpResponse:
    """The list under the address's filter."""
    filter_ = ArtifactFilter.parse(request.GET)
    after, before = (_place(request.GET.get(name, "")) for name in ("after", "before"))
    with limited():
        page = read.page(filter_, after, before)
        known = read.knowledge(filter_.tenant, filter_.project) if filter_.tenant else None
        now = database_now()
    url = filter_.url
    context = {
        "filter": filter_,
        "tabs": [("All", url_of(filter_, ""), not filter_.status)]
        + [(word, url_of(filter_, status), status == filter_.status) for status, word in STATES.items()],
        "types": list(DocType),
        "chips": [
            {"label": name, "value": value, "url": filter_.but(**{name: ""}).url()}
            for name, value in filter_.texts.items()
        ],
        "rows": [_with_words(row) for row in page.rows],
        "knowledge": known,
        "upload_url": "/artifacts/new/?" + urlencode({"tenant": filter_.tenant, "project": filter_.project}),
        "pager": {
            "text": words.plural(len(page.rows), "artifact") if page.rows else "No artifacts",
            "first_url": None if page.first else url(),
            "newer_url": url(before=page.newer.id) if page.newer else None,
            "older_url": url(after=page.older.id) if page.older else None,
        },
        "may_upload": can(request.user, "upload_artifact"),
        "who_may_upload": who_may("upload_artifact"),
        "server_now": now,
        "region_url": request.get_full_path(),
    }
    return show(request, "console/artifacts.html", context)


def url_of(filter_: ArtifactFilter, status: str) -> str:
    """The filter's address with this status."""
    return filter_.but(status=status).url()


def _place(text: str) -> str:
    return text if len(text) <= 2_000 and storable(text) else ""


def _with_words(row: Row) -> Row:
    keywords = row["keywords"]
    shown = [str(word)[:60] for word in keywords[:20] if isinstance(word, str)] if isinstance(keywords, list) else []
    return row | {
        "word": STATES.get(row["status"], row["status"]),
        "title": row["name"].strip() or "(no name)",
        "words": shown,
        "url": artifact_url(row["id"]),
    }


@require_safe
def artifact(request: HttpRequest) -> HttpResponse:
    """One artifact: what it is, its jobs, its events."""
    with limited():
        row = _find(request.GET.get("id", ""))
        story = ledger.story(row["whole_tenant"], row["id"], None, None)
        known = read.knowledge(row["whole_tenant"], row["whole_project"])
        made = [job["job_id"] for event in story.rows for job in event["jobs"]]
        jobs = read.jobs(list(dict.fromkeys([*([row["job_id"]] if row["job_id"] else []), *made]))[:50])
        now = database_now()
    project = {"tenant": row["tenant_id"]} | ({"project": row["project_id"]} if row["project_id"] else {})
    context = {
        "row": row,
        "jobs": sorted(jobs.values(), key=lambda job: str(job["id"]), reverse=True)[:10],
        "events": story.rows[:20],
        "story_url": "/ledger/document/?" + urlencode({"company": row["whole_tenant"], "document": row["id"]}),
        "project_url": "/artifacts/?" + urlencode(project),
        "knowledge": known,
        "may_reprocess": can(request.user, "reprocess_artifact", row["whole_tenant"]),
        "who_may_reprocess": who_may("reprocess_artifact"),
        "dialog_url": "/artifacts/reprocess/?" + urlencode({"id": row["id"]}),
        "server_now": now,
        "region_url": request.get_full_path(),
    }
    return show(request, "console/artifact.html", context)


def _find(artifact_id: str) -> Row:
    """The artifact. One of a tenant that may not be seen is not there."""
    row = read.find(artifact_id) if artifact_id and storable(artifact_id) else None
    if row is None:
        raise ArtifactNotFound(artifact_id)
    return _with_words(row)


# --- A new file -------------------------------------------------------------------------------------------------------


@require_safe
def new(request: HttpRequest) -> HttpResponse:
    """The form for a file."""
    first = {name: request.GET.get(name, "")[:300] for name in ("tenant", "project")}
    return _form(request, UploadForm(initial=first | {"token": token()}), 200)


def _form(request: HttpRequest, form: UploadForm, status: int) -> HttpResponse:
    names = {"tenant": form["tenant"].value() or "", "project": form["project"].value() or ""}
    form.fields["file"].help_text = (
        f"At most {conf().artifact_max_mb:,} MB. Texts, Word, Excel, PDF, JSON, YAML, HTML, scripts and more are read; of "
        "other files only the kind is told."
    )
    context = {
        "form": form,
        "allowed": can(request.user, "upload_artifact"),
        "who": who_may("upload_artifact"),
        "command": command(
            "artifact", "upload", "FILE", fields={"--tenant": "tenant", "--project": "project"}, values=names
        ),
    }
    return show(request, "console/artifact_new.html", context, status=status)


@action("upload_artifact")
def upload(request: HttpRequest) -> HttpResponse:
    """Stores a file and makes its artifact. The same form sent twice makes one."""
    form = UploadForm(request.POST, request.FILES)
    valid = form.is_valid()
    if too_large(request):
        form.errors.pop("file", None)
        form.add_error("file", f"It is larger than {conf().artifact_max_mb:,} MB.")
    if not valid or form.errors:
        return _form(request, form, 422)
    data = form.cleaned_data
    if not scope.sees(data["tenant"]):
        form.add_error("tenant", "It is none of the tenants of this account.")
        return _form(request, form, 422)
    who, file = person(request), cast("UploadedFile[Any]", request.FILES["file"])
    try:
        # The file's own name, not what the form made of it: that is cut and has no folders.
        with operations.stored(
            who, tenant_id=data["tenant"], name=file.name or "", content=cast("IO[bytes]", file)
        ) as stored:
            made = once(
                request, "upload", data["token"],
                lambda: operations.create(who, stored, project_id=data["project"] or None, reason=data["reason"]),
            )  # fmt: skip
    except InvalidInput as error:
        form.add_error(
            error.field if error.field in form.fields else "file", f"{error.message[:1].upper()}{error.message[1:]}."
        )
        return _form(request, form, 422)
    except StorageFailed:
        form.add_error("file", "It could not be stored; the log says why. Nothing was kept.")
        return _form(request, form, 503)
    messages.success(request, f"Uploaded as {made}. Its analysis is queued.")
    return HttpResponseRedirect(artifact_url(made))


# --- Another analysis -------------------------------------------------------------------------------------------------


@require_safe
def dialog(request: HttpRequest) -> HttpResponse:
    """What will happen, and the field for the reason."""
    return _dialog(request, request.GET.get("id", ""), ReasonForm(), 200)


def _dialog(request: HttpRequest, artifact_id: str, form: ReasonForm, status: int) -> HttpResponse:
    with limited():
        row = _find(artifact_id)
        now = database_now()
    context: dict[str, Any] = {
        "row": row,
        "problem": problem(form, "reason"),
        "reason": form.data.get("reason", ""),
        "token": form.data.get("token") or token(),
        "allowed": can(request.user, "reprocess_artifact", row["whole_tenant"]),
        "who_may": who_may("reprocess_artifact"),
        "command": command("artifact", "reprocess", row["id"], reason=form.data.get("reason", "")),
        "server_now": now,
    }
    return show(request, "console/artifact_reprocess.html", context, part="dialog", status=status)


def _reprocess(request: HttpRequest, artifact_id: str, form: ReasonForm) -> str:
    operations.reprocess(person(request), artifact_id, form.cleaned_data["reason"])
    return artifact_id


@action("reprocess_artifact")
def reprocess(request: HttpRequest) -> HttpResponse:
    """Its file is analysed again."""
    form, artifact_id = ReasonForm(request.POST), request.POST.get("id", "")
    if not form.is_valid():
        return _dialog(request, artifact_id, form, 422)
    with limited():
        row = _find(artifact_id)
    if not can(request.user, "reprocess_artifact", row["whole_tenant"]):
        raise PermissionDenied(f"Your role may not do this; {who_may('reprocess_artifact')} may. Nothing was changed.")
    once(request, "reprocess", request.POST.get("token", ""), lambda: _reprocess(request, row["id"], form))
    return done(request, f"{row['title'][:80]}: its analysis is queued again.", artifact_url(row["id"]))
