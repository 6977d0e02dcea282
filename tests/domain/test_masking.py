"""Secrets are known by their keys and never shown, whatever shape the JSON has."""

import json

import pytest

from jobs.domain.masking import MASK, is_secret, mask, mask_json, mask_text


@pytest.mark.parametrize(
    "key", ["password", "dbPassword", "PASSWORD_HASH", "api_key", "x-api-key", "apiKey", "Authorization", "Set-Cookie", "accessToken",
            "client_secret", "private.key", "credentials", "jwt", "pin", "sessionId", "internal code"],
)  # fmt: skip
def test_keys_that_name_a_secret(key: str) -> None:
    assert is_secret(key, ["Internal-Code"])


@pytest.mark.parametrize("key", ["url", "author", "pinned", "keyword", "visitedUrls", "pass", "project", ""])
def test_keys_that_name_none(key: str) -> None:
    assert not is_secret(key)


@pytest.mark.parametrize(
    "value",
    ["hunter2", 'a "quoted" \\ one', "}", 12345678901234567890, 1.5, ["a", {"b": "c"}], {"deep": {"er": ["x"]}}],
)
def test_the_value_goes_and_its_neighbours_stay(value: object) -> None:
    stored = {"url": "https://x/", "auth": {"password": value, "user": "kim"}, "list": [{"token": value}], "end": 1}
    shown, masked = mask_json(json.dumps(stored))
    assert masked == 2
    assert json.loads(shown) == mask(stored) == {
        "url": "https://x/", "auth": {"password": MASK, "user": "kim"}, "list": [{"token": MASK}], "end": 1,
    }  # fmt: skip


def test_nothing_to_hide_is_left_as_it_is() -> None:
    for text in ['{"token": null, "secret": "", "cookie": true}', "[]", "12.50", '"password"', '["token", "x"]', "{}"]:
        assert mask_json(text) == (text, 0)
    assert mask_json('{"text": "\\"password\\": \\"x\\""}')[1] == 0  # a text about a password is no password


@pytest.mark.parametrize(
    "text", ['{"a": 1, "secret": "cut in the mid', '{"secret": {"a": [1, "b', '{"secret": "x\\', '{"secret": 12']
)
def test_a_text_that_was_cut_shows_no_part_of_it(text: str) -> None:
    shown, masked = mask_json(text)
    assert masked == 1 and shown.endswith(json.dumps(MASK, ensure_ascii=False))


def test_numbers_keep_every_digit_and_escaped_keys_are_read() -> None:
    assert mask_json('{"n": 1.00000000000000000001}')[0] == '{"n": 1.00000000000000000001}'
    assert mask_json('{"pass\\u0077ord": "x"}')[1] == 1


def test_deep_and_odd_texts_end() -> None:
    for text in ["[" * 100_000, '{"secret":' * 50_000, '"' * 100_000, '{"a": "' + "\\" * 200_000]:
        mask_json(text)


# --- Prose ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("login failed: password=hunter2", "hunter2"),
        ("password: hunter2, user: kim", "hunter2"),
        ("KeyError: {'apiKey': 'hunter2', 'url': 'https://x/'}", "hunter2"),
        ('refused: {"token": "hunter2", "n": 1}', "hunter2"),
        ("Authorization: Bearer hunter2", "hunter2"),
        ("GET https://x.example/?access_token=hunter2&page=2 gave 401", "hunter2"),
        ("could not connect to postgresql://kim:hunter2@db/x", "hunter2"),
        ("passphrase = 'with a hunter2 in it' is wrong", "hunter2"),
        ("internal_code=hunter2", "hunter2"),
        ('cut in its middle: "secret": "hunter2 and m', "hunter2"),
    ],
)
def test_secrets_in_prose_are_masked(text: str, secret: str) -> None:
    shown = mask_text(text, ["Internal-Code"])
    assert secret not in shown and MASK in shown
    assert mask_text(shown, ["Internal-Code"]) == shown


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: the index is away",
        "HTTP 503 from https://x.example:8443/a?page=2, retry: 3",
        "password: null and token=None",
        "no password was given",
        "author: kim",
        "",
        "a" * 100_000,
        "token" * 20_000,
        "password:" + " " * 50_000,
    ],
)
def test_prose_without_a_secret_stays_as_it_is(text: str) -> None:
    assert mask_text(text) == text
