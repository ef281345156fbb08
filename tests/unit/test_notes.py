"""Signed notes and checkpoints: the example of the specification, and what is none."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.domain.trust.merkle import Tree
from toprung.domain.trust.notes import (
    Verifier,
    checkpoint_text,
    opened_note,
    parse_checkpoint,
    parse_key_name,
    parse_private,
    parse_verifier,
    private_text,
    signed_note,
)
from toprung.errors import Invalid
from toprung.journals.log_key import checks

# The example of Go's package golang.org/x/mod/sumdb/note: a key, a text and its signature.
PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
TEXT = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
NOTE = (
    f"{TEXT}\n— PeterNeumann"
    " x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
    "\n"
)


def test_a_published_note() -> None:
    verifier = parse_verifier(PETER)
    assert verifier.name == "PeterNeumann"
    assert verifier.text == PETER
    assert opened_note(NOTE, verifier, checks) == TEXT


@pytest.mark.parametrize(
    "note",
    [
        NOTE.replace("answer", "solution"),
        NOTE.replace("x08go/", "x08gp/"),
        NOTE.replace("— PeterNeumann", "- PeterNeumann"),
        NOTE.replace("PeterNeumann x", "Peter x"),
        NOTE.removesuffix("\n"),
        NOTE.replace("\n\n", "\n"),
        NOTE + "— PeterNeumann !!!\n",
        TEXT,
        "",
        "\n\n",
        "x" * 100_000,
    ],
)
def test_notes_that_are_none(note: str) -> None:
    assert opened_note(note, parse_verifier(PETER), checks) is None


@pytest.mark.parametrize(
    "key",
    [
        "",
        "name",
        "name+0+0",
        PETER.replace("c74f20a3", "c74f20a4"),
        PETER.replace("+AR", "+BR"),
        "\ud800+x+y",
        "a b+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        7,
        None,
        "é" * 2000,
    ],
)
def test_keys_that_are_none(key: object) -> None:
    with pytest.raises(Invalid):
        parse_verifier(key)


def test_private_keys() -> None:
    verifier = Verifier("toprung/log", bytes(range(32)))
    assert parse_private(private_text(verifier, b"s" * 32)) == ("toprung/log", b"s" * 32)
    for text in ("", "PRIVATE+KEY+x", "PRIVATE+KEY+x+00+AAAA", private_text(verifier, b"s")):
        with pytest.raises(Invalid):
            parse_private(text)
    with pytest.raises(Invalid):
        parse_key_name("has space")


@given(st.integers(0, 2**62), st.binary(min_size=32, max_size=32))
def test_checkpoints(size: int, root: bytes) -> None:
    text = checkpoint_text("toprung/log", Tree(size, root))
    assert parse_checkpoint(text) == ("toprung/log", Tree(size, root))
    assert parse_checkpoint(f"{text}an extension\n") == ("toprung/log", Tree(size, root))


@pytest.mark.parametrize(
    "text", ["", "a\n1\n", "a\n-1\nAAAA\n", "a\n01\nAAAA\n", "a\n1\n!\n", "a\n"]
)
def test_checkpoints_that_are_none(text: str) -> None:
    assert parse_checkpoint(text) is None


def test_a_second_signature_is_passed_over() -> None:
    other = Verifier("other", bytes(32))
    line = signed_note("x\n", other, lambda _: b"y" * 64).partition("\n\n")[2]
    assert opened_note(NOTE + line, parse_verifier(PETER), checks) == TEXT
    text, _, lines = NOTE.rpartition("\n\n")
    assert opened_note(f"{text}\n\n{line}{lines}", parse_verifier(PETER), checks) == TEXT
    assert base64.b64decode(line.split()[2])[:4] == other.id
