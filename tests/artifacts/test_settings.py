"""Settings of artifacts: a bad one is an error at the start that names it, and says nothing of a key."""

from pathlib import Path

import pytest

from detiq_admin.file_store import storage
from jobs.conf import load
from jobs.domain.errors import SettingError
from jobs.domain.variables import FileStore


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ARTIFACT_MAX_MB", "0", "between 1 and 2000"),
        ("ARTIFACT_MAX_MB", "many", "ARTIFACT_MAX_MB"),
        ("ARTIFACT_STORAGE", "ftp://host/x", "neither with file:///"),
        ("ARTIFACT_STORAGE", "s3://", "neither with file:///"),
        ("ARTIFACT_STORAGE", "s3://bucket/x?region=eu&secret=1", "nothing is known of secret"),
        ("ARTIFACT_STORAGE", "s3://bucket/x?endpoint=minio:9000", "no http or https address"),
        ("ARTIFACT_STORAGE", "file://relative", "neither with file:///"),
        ("ARTIFACT_KEY_PREFIX", "files/", "{tenant} must be one of its parts"),
        ("ARTIFACT_KEY_PREFIX", "a-{tenant}/", "{tenant} must be one of its parts"),
        ("ARTIFACT_KEY_PREFIX", "/{tenant}/", "relative"),
        ("ARTIFACT_KEY_PREFIX", "../{tenant}/", "relative"),
        ("ARTIFACT_KEY_PREFIX", "{tenant}", "end with /"),
        ("ARTIFACT_LLM_URL", "llm.example", "no http or https address"),
        ("ARTIFACT_LLM_URL", "https://kim:pw@llm.example/v1", "no http or https address"),
        ("ARTIFACT_LLM_URL", "https://llm.example/v1", "ARTIFACT_LLM_MODEL is not set"),
        ("ARTIFACT_LLM_MODEL", "small-1", "ARTIFACT_LLM_URL is not set"),
        ("ARTIFACT_LLM_SECONDS", "0", "between 1 and 600"),
    ],
)
def test_a_bad_value_is_an_error_that_names_its_variable(name: str, value: str, words: str) -> None:
    with pytest.raises(SettingError) as caught:
        load({name: value})
    assert "ARTIFACT_" in str(caught.value) and words in str(caught.value)


def test_a_key_is_in_no_error_and_no_print() -> None:
    with pytest.raises(SettingError) as caught:
        load({"ARTIFACT_LLM_KEY": "sécret"})
    assert "sécret" not in str(caught.value) and "ARTIFACT_LLM_KEY" in str(caught.value)
    values = {"ARTIFACT_LLM_KEY": "hunter2", "ARTIFACT_LLM_URL": "https://llm.example/v1/", "ARTIFACT_LLM_MODEL": "m"}
    assert "hunter2" not in repr(load(values)) and load(values).artifact_llm_url == "https://llm.example/v1"


def test_files_are_below_the_var_folder_unless_something_else_is_set(tmp_path: Path) -> None:
    assert storage(FileStore(), tmp_path)["OPTIONS"]["location"] == tmp_path / "artifacts"
    assert storage(load({"ARTIFACT_STORAGE": "file:///srv/a%20b"}).artifact_storage, tmp_path)["OPTIONS"][
        "location"
    ] == Path("/srv/a b")
    (tmp_path / "artifacts").write_text("a file")
    with pytest.raises(SettingError, match="it is no folder"):
        storage(FileStore(), tmp_path)


def test_a_bucket_needs_its_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = load({"ARTIFACT_STORAGE": "s3://files/detiq?endpoint=https://s3.example&region=eu-1"}).artifact_storage
    assert where == FileStore("detiq", "files", "https://s3.example", "eu-1")
    monkeypatch.setattr("detiq_admin.file_store.find_spec", lambda name: None)
    with pytest.raises(SettingError, match="uv sync --group s3"):
        storage(where, tmp_path)
