"""Cursors that nobody handed out: refused with a sentence, whatever numbers are in them."""

from __future__ import annotations

import typing
from base64 import urlsafe_b64decode
from functools import partial
from typing import Any

import httpx2
import msgspec
import pytest

from tests.http.conftest import pointers, problem_of
from tests.http.waiting import eventually
from toprung.service.cursor import (
    ActivityCursor,
    FriendsCursor,
    PageCursor,
    SubmissionsCursor,
    cursor_text,
)

EDGES = [-(2**63), -1, 0, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1]
"""The largest is all that MessagePack can say."""

KINDS: list[type[Any]] = [PageCursor, FriendsCursor, SubmissionsCursor, ActivityCursor]
PATHS: dict[type[Any], str] = {
    PageCursor: "standings",
    FriendsCursor: "standings/ann/friends",
    SubmissionsCursor: "players/ann/submissions",
    ActivityCursor: "activity",
}


def numbers_in(kind: type[Any]) -> list[str]:
    """The names of a cursor's integers."""
    hints = typing.get_type_hints(kind)
    return [field.name for field in msgspec.structs.fields(kind) if hints[field.name] is int]


CASES = [(kind, name, edge) for kind in KINDS for name in numbers_in(kind) for edge in EDGES]


def test_every_kind_has_numbers() -> None:
    assert all("generation" in numbers_in(kind) for kind in KINDS)
    assert "before" in numbers_in(SubmissionsCursor)


@pytest.fixture(scope="module")
def walked(http: httpx2.Client) -> dict[type[Any], str]:
    """A cursor of each kind, as the service hands them out."""
    board = "/v1/boards/forged"
    http.put(board, json={"windows": ["all-time"]}).raise_for_status()
    for player in ("ann", "bob", "eve"):
        http.put(f"/v1/players/ann/friends/{player}")
        for score in (1, 2):
            body = {"player": player, "score": score}
            http.post(f"{board}/scores", json=body).raise_for_status()
    found: dict[type[Any], str] = {}
    for kind, path in PATHS.items():
        asked = partial(_next, http, f"{board}/{path}")
        eventually(asked)  # activity may follow
        found[kind] = asked()
        following = http.get(f"{board}/{path}", params={"limit": 1, "cursor": found[kind]})
        assert following.status_code == 200
    return found


def _next(http: httpx2.Client, path: str) -> str:
    return str(http.get(path, params={"limit": 1}).json()["next"] or "")


def forged(text: str, kind: type[Any], **changes: Any) -> str:
    packed = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    cursor = msgspec.msgpack.decode(packed, type=kind)
    return cursor_text(msgspec.structs.replace(cursor, **changes))


@pytest.mark.parametrize(("kind", "name", "edge"), CASES)
def test_a_number_beyond_what_we_count_to_is_refused(
    http: httpx2.Client, walked: dict[type[Any], str], kind: type[Any], name: str, edge: int
) -> None:
    cursor = forged(walked[kind], kind, **{name: edge})
    answer = http.get(f"/v1/boards/forged/{PATHS[kind]}", params={"cursor": cursor})
    if name == "generation" or not 0 <= edge < 2**63:
        assert pointers(problem_of(answer, 422, "invalid")) == ["/cursor"]
    else:
        assert answer.status_code == 200
