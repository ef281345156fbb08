"""The client reference names everything the client adds to the library."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from tests.docs.test_reference import public, signature
from toprung import client

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "client.md").read_text()
CODE = set(re.findall(r"`([^`\n]+)`", PAGE))
NAMES = {name for text in CODE for name in re.findall(r"\w+", text)}


@pytest.mark.parametrize("function", [client.connect, client.connect_async])
def test_connecting_stands_there(function: object) -> None:
    assert callable(function)
    default = f"={client.Retries()!r}"
    assert f"client.{signature(function)}".replace(default, "=Retries()") in CODE


def test_watching_stands_there() -> None:
    assert signature(client.Leaderboard.watch) in CODE
    assert [name for _, name in public(client.Watch) if name not in NAMES] == []


@pytest.mark.parametrize("name", client.__all__)
def test_every_public_name_and_every_member_of_a_message_is_explained(name: str) -> None:
    assert name in NAMES
    found = getattr(client, name)
    if isinstance(found, type) and issubclass(found, msgspec.Struct):
        assert [field for field in found.__struct_fields__ if field not in NAMES] == []


@pytest.mark.parametrize("name", client.Retries.__struct_fields__)
def test_every_default_of_retries_is_right(name: str) -> None:
    assert f"| `{name}` | {getattr(client.Retries(), name)} |" in PAGE
