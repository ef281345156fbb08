"""Cursors: opaque texts that say where a walk goes on.

A cursor carries everything that a walk must not change on its way (the board's generation, the
ladder, the score range) and the edge row it continues from: its key and player, never an offset.
So whoever's entry does not change during the walk is met exactly once, whatever others write.
It is URL-safe base64 of a small MessagePack array; nothing in it is secret, and whatever is not
exactly as we write it is refused.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Annotated, Literal, TypeVar

import msgspec

from toprung.domain.board import Board
from toprung.domain.ladder import ERASED
from toprung.domain.player import parse_player
from toprung.domain.values import parse_text
from toprung.errors import Invalid

TEXT_MAX = 1024

Position = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""A place in the journal: what no journal can count to is in no cursor of ours."""

WORST = b"\xff" * 8
BEST = b"\x00" * 8


class PageCursor(msgspec.Struct, frozen=True, array_like=True, tag="p1"):
    """Where a page of standings begins or ends."""

    generation: Position
    window: str
    period: str
    scope: str
    best: bytes
    worst: bytes
    """The first key words of the best and the worst result that are asked for."""
    backward: bool
    key: bytes
    player: str


class FriendsCursor(msgspec.Struct, frozen=True, array_like=True, tag="f1"):
    """Where a page of friends begins."""

    generation: Position
    window: str
    period: str
    scope: str
    owner: str
    key: bytes
    player: str


class SubmissionsCursor(msgspec.Struct, frozen=True, array_like=True, tag="s1"):
    """Where older submissions begin."""

    generation: Position
    owner: str
    before: Position


class ActivityCursor(msgspec.Struct, frozen=True, array_like=True, tag="a1"):
    """Where older activity begins."""

    generation: Position
    scope: str
    before: Position


class ExportCursor(msgspec.Struct, frozen=True, array_like=True, tag="x1"):
    """Where the export of a player goes on: a part of a board, and a place in it."""

    owner: str
    board: str
    generation: Position
    part: str
    after: str


class ReviewCursor(msgspec.Struct, frozen=True, array_like=True, tag="r1"):
    """Where a list of submissions that wait goes on."""

    order: Literal["impact", "oldest"]
    board: str
    place: int
    key: Annotated[str, msgspec.Meta(max_length=19)]


Cursor = (
    PageCursor | FriendsCursor | SubmissionsCursor | ActivityCursor | ExportCursor | ReviewCursor
)
C = TypeVar("C", PageCursor, FriendsCursor, SubmissionsCursor, ActivityCursor)
D = TypeVar(
    "D",
    PageCursor,
    FriendsCursor,
    SubmissionsCursor,
    ActivityCursor,
    ExportCursor,
    ReviewCursor,
)

_encoder = msgspec.msgpack.Encoder()
_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def cursor_text(cursor: Cursor) -> str:
    """The cursor as it is handed out."""
    text = binascii.b2a_base64(_encoder.encode(cursor), newline=False)
    return text.translate(_URL_SAFE, b"=").decode()


def parse_cursor(text: object, kind: type[C], board: Board) -> C:
    """The cursor behind a text, if it is one of this kind and of this board.

    >>> parse_cursor("nonsense", SubmissionsCursor, Board(id="blitz"))
    Traceback (most recent call last):
    toprung.errors.Invalid: cursor: is not a cursor of this list
    """
    cursor = read_cursor(text, kind)
    if cursor.generation != board.generation:
        raise Invalid("cursor", f"belongs to a board other than {board.id!r}")
    if isinstance(cursor, PageCursor | FriendsCursor):
        _check_edge(cursor, board)
    return cursor


def read_cursor(text: object, kind: type[D]) -> D:
    """The cursor behind a text, of any board."""
    text = parse_text(text, "cursor")
    if len(text) <= TEXT_MAX:
        try:
            packed = b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            cursor = msgspec.msgpack.decode(packed, type=kind)
            if cursor_text(cursor) == text:
                return cursor
        except (binascii.Error, ValueError, msgspec.DecodeError):
            pass
    raise Invalid("cursor", "is not a cursor of this list")


def _check_edge(cursor: PageCursor | FriendsCursor, board: Board) -> None:
    words = 8 * board.shape.order
    ends = (cursor.best, cursor.worst) if isinstance(cursor, PageCursor) else ()
    if len(cursor.key) != words or any(len(end) != 8 for end in ends):
        raise Invalid("cursor", "is not a cursor of this list")
    player = cursor.player.removesuffix(ERASED)
    if player or not cursor.player:  # else nobody with the key comes before who was erased
        parse_player(player, "cursor")
