"""A bad value of the environment is one clear line that names the variable, and never a password."""

import pytest

from detiq_admin.database import from_url
from jobs.conf import load
from jobs.domain.errors import SettingError

BAD = {
    "LOG_LEVEL": ["verbose", "10"],
    "LOG_FORMAT": ["jsno"],
    "ALLOWED_HOSTS": ["https://ops.example.org", "ops.example.org:8000", ",", "a b", "ops.example.org/"],
    "DETIQ_INSECURE_COOKIES": ["true", "yes"],
    "DETIQ_PUBLIC_URL": ["https://h:99999", "https://h:x", "https://h:0", "https://kim:pw@h", "https://h/\r\nX: y"],
    "ARTIFACT_LLM_URL": ["https://h:99999", "https://h/a b"],
    "REMOTE_ALLOWED_HOSTS": ["http://crawler", "crawler:80", "a b"],
    "JOB_WORKER_CONCURRENCY": ["9" * 6000, "0x10", "4 # comment", "four", "nan", "0"],
    "JOB_STALE_TIMEOUT_MINUTES": ["nan", "inf", "1e400", "1,5", "x" * 6000],
    "OUTBOUND_ALLOWED_NETWORKS": ["10.0.0.0/99", "x" * 6000],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_a_bad_value_is_one_line_that_names_its_variable(name: str, value: str) -> None:
    with pytest.raises(SettingError) as refused:
        load({name: value})
    said = str(refused.value)
    assert said.startswith(f"{name} is ") and "It takes " in said and len(said) < 700 and "\n" not in said


def test_hosts_are_read_as_django_asks_for_them() -> None:
    hosts = load({"ALLOWED_HOSTS": " Ops.example.org, .example.net,::1,*,10.0.0.7"}).allowed_hosts
    assert hosts == ["ops.example.org", ".example.net", "[::1]", "*", "10.0.0.7"]
    assert load({"ALLOWED_HOSTS": " ", "LOG_LEVEL": "warn"}).allowed_hosts == ["localhost", "127.0.0.1", "[::1]"]
    assert load({"REMOTE_ALLOWED_HOSTS": "[::1],Crawler."}).remote_allowed_hosts == {"::1", "crawler"}


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgres", "no PostgreSQL address"),
        ("postgresql://u:hunt%er2@h/db", "%25"),
        ("postgresql://u:hun@ter2@h/db", "%40"),
        ("postgresql://u:hunter2@[::1/db", "cannot be read"),
        ("postgresql://u:hunter2@h:99999/db", "port"),
        ("postgresql://u:hunter2@h:5432,g:x/db", "port"),
        ("postgresql://u:hunter2@h", "names no database"),
        ("postgresql://u:hunter2@h/db?sslmode=maybe", "verify-full"),
        ("postgresql://u:hunter2@h/db?target_session_attrs=master", "read-write"),
        ("postgresql://u:hunter2@h/db?connect_timeout=soon", "connect_timeout"),
        ("postgresql://u:hunter2@h/db?pool_size=4", "pool_size"),
    ],
)
def test_an_address_that_no_server_can_have_is_refused_without_its_password(url: str, says: str) -> None:
    with pytest.raises(SettingError) as refused:
        from_url("DATABASE_URL", url)
    said = str(refused.value)
    assert said.startswith("DATABASE_URL ") and says in said and "\n" not in said
    assert not any(part in said for part in ("hunter2", "ter2", "hunt%er"))


def test_several_hosts_are_one_address() -> None:
    read = from_url("DATABASE_URL", "postgresql://u@a:5432,b:5433/db?target_session_attrs=read-write")
    assert (read["HOST"], read["PORT"]) == ("a,b", "5432,5433")
