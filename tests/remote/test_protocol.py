"""The protocol's document holds true: its examples are signed as it says, its executor is as short as it says."""

import re
from pathlib import Path

import pytest

from jobs.domain.remote import CALLBACK, CALLBACKS, REQUEST, Message, read_end, read_json, sign, verified
from tests.remote.node import SCRIPT

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "remote-executor.md").read_text()
EXAMPLES = re.findall(r"```http\n(.*?)\n```", DOCUMENT, re.DOTALL)
SECRET = "dts_an-example-that-is-not-in-use"


def read(example: str) -> tuple[Message, str]:
    """The message of an example, and its signature."""
    head, _, body = example.partition("\n\n")
    line, *rest = head.split("\n")
    headers = dict(one.split(": ", 1) for one in rest)
    path = line.split(" ")[1]
    _, run, event = path.strip("/").split("/") if path.startswith("/remote/") else ("", "", "")
    message = Message(
        CALLBACK if event else REQUEST,
        event or headers["Detiq-Event"],
        run or headers["Detiq-Run"],
        int(headers["Detiq-Timestamp"]),
        headers["Detiq-Nonce"],
        body.encode(),
    )
    return message, headers["Detiq-Signature"]


def test_there_are_examples_of_both_sides() -> None:
    events = {read(example)[0].event for example in EXAMPLES}
    assert events == {"start", "cancel", "progress", "end"}
    assert f"`{SECRET}`" in DOCUMENT


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_signed_as_the_document_says(example: str) -> None:
    message, signature = read(example)
    assert sign(message, [SECRET]) == signature
    assert verified(message, signature, ["dts_another", SECRET])
    assert not verified(message, signature, ["dts_another"])
    if message.event == "end":
        read_end(read_json(message.body))


def test_the_seven_lines_are_those_of_the_first_example() -> None:
    lines = re.findall(r"```text\n(.*?)\n```", DOCUMENT, re.DOTALL)
    assert [read(EXAMPLES[0])[0].canonical().decode()] == lines


def test_two_signatures_are_told_while_secrets_change() -> None:
    message, _ = read(EXAMPLES[0])
    both = sign(message, ["dts_new", SECRET])
    assert both.count("v1=") == 2
    assert verified(message, both, [SECRET]) and verified(message, both, ["dts_new"])


def test_every_callback_and_every_answer_is_described() -> None:
    for event in CALLBACKS:
        assert f"### {event}" in DOCUMENT
    source = (Path(__file__).resolve().parents[2] / "jobs" / "operations" / "remote_callbacks.py").read_text()
    for status, code in re.findall(r'CallbackRefused\((\d+), "(\w+)"', source):
        assert re.search(rf"\| {status} \|[^|]*`{code}`", DOCUMENT), code


def test_the_executor_is_short_and_needs_no_package() -> None:
    lines = SCRIPT.read_text().splitlines()
    assert len([line for line in lines if not line.startswith("//")]) <= 30
    assert all("node:" in line for line in lines if line.startswith("import"))
