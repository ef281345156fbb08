"""Typed events: what is recorded is read again, newer ones are refused, players are renumbered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NamedTuple

import msgspec
import pytest

from toprung.domain.board import Board
from toprung.domain.documents import declare
from toprung.domain.events import (
    KEEPING_FORMAT,
    KINDS,
    TRUST_FORMAT,
    Acted,
    Befriended,
    BoardDeleted,
    BoardSet,
    Corrected,
    DocumentSet,
    EntriesRemoved,
    EntriesSet,
    EntrySet,
    Event,
    EventBody,
    PeriodAmended,
    PeriodArchived,
    PeriodClosed,
    PeriodSettled,
    PlayerErased,
    PlayerRestricted,
    PlayerSet,
    Scored,
    SubmissionDecided,
    SubmissionPended,
    SubmissionRevoked,
    Unfriended,
    read_event,
    renumbered,
)
from toprung.domain.ladder import Route, Stop
from toprung.domain.player_numbers import PlayerNumber
from toprung.domain.trust.act import Act
from toprung.domain.trust.restriction import due_key
from toprung.errors import DatabaseDamaged


class Seat(NamedTuple):
    player: PlayerNumber
    row: int


class Pair(msgspec.Struct, frozen=True):
    one: PlayerNumber
    other: PlayerNumber | None
    weight: int


class Match(msgspec.Struct, frozen=True):
    """Names players in every way that a document can."""

    winner: PlayerNumber
    teams: tuple[tuple[PlayerNumber, ...], ...]
    by_role: Mapping[str, PlayerNumber]
    goals: dict[PlayerNumber, int]
    best: tuple[PlayerNumber, int]
    seat: Seat
    bench: Annotated[list[PlayerNumber], msgspec.Meta(max_length=9)]
    pairs: list[Pair]
    referee: PlayerNumber | None
    score: int


declare("test-match", Match)
declare("test-pair", Pair)

BODIES: list[EventBody] = [
    Scored("b", 1, "test", Route((Stop("daily", "2026-11-15", ("global",)),)), 3, 7, 9, None, 1),
    BoardSet("b", {"title": "B"}, 4, {"daily": ("2026-11-15",)}),
    BoardSet("b", {}, 4),
    BoardDeleted("b"),
    PlayerSet(3, {"country": "US"}, {"b": (("all-time", "all"),)}),
    PlayerRestricted(3, "shadow *", {"b": (("all-time", "all"),)}),
    PlayerRestricted(3, None, {}),
    SubmissionRevoked("b", 3, 17, "replayed"),
    PlayerErased(3),
    EntriesRemoved("b", 3),
    Befriended(3, 4),
    Unfriended(4, 3),
    EntriesSet("b", 3, (EntrySet("daily", "2026-11-15", ("global", "country:US"), 5, 6, 7, 0),)),
    EntriesSet("b", 3, (), is_refolded=True),
    DocumentSet("test-pair", "k", {"one": 1, "other": None, "weight": 2}),
    DocumentSet("test-match", "k", None),
    PeriodClosed("b", "daily", "2026-11-15", 7),
    PeriodSettled("b", "daily", "2026-11-15", 7, 2, 3, "0f" * 32),
    PeriodArchived("b", 1, "daily", "2026-11-15", 7),
    Acted("mfzwizlr", by=Act("key.create", "cli", "", "a reason")),
    PeriodAmended(
        *("b", "daily", "2026-11-15", 7, 1, 2, "0f" * 32, "a bot played"),
        removed=(3,),
        corrected=(Corrected(4, 9, None),),
    ),
    SubmissionPended("b", 5, 3, ("top", "anomaly")),
    SubmissionDecided("b", 5, 3, "accepted", "ann", "the replay agrees", True),
]


def test_every_kind_is_tried() -> None:
    assert {type(body) for body in BODIES} == set(KINDS.values())


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_events_are_read_as_they_were_recorded(body: EventBody) -> None:
    event = Event(17, 5, body)
    assert KINDS[event.kind] is type(body)
    assert read_event(17, 5, event.kind, event.text) == event


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        ("teleported", "{}", "a newer one recorded it"),
        ("removed", '{"board":"b","player":3,"reason":"x"}', "newer version"),
        ("removed", '{"board":"b"}', "damaged"),
        ("removed", "{", "damaged"),
    ],
)
def test_what_is_not_known_is_refused(kind: str, text: str, why: str) -> None:
    with pytest.raises(DatabaseDamaged, match=why):
        read_event(17, 5, kind, text)


def test_players_get_other_numbers_wherever_they_are_named() -> None:
    def hundred_more(number: int) -> int:
        return number + 100

    changed = [renumbered(body, hundred_more) for body in BODIES if not isinstance(body, BoardSet)]
    numbers = [getattr(body, "player", None) for body in changed]
    assert numbers == [103, None, *[103] * 7, 104, 103, 103, *[None] * 7, 103, 103]
    assert changed[8] == Befriended(103, 104)
    amended = changed[-3]
    assert isinstance(amended, PeriodAmended)
    assert (amended.removed, amended.corrected) == ((103,), (Corrected(104, 9, None),))
    match = Match(
        1, ((1, 2), (3,)), {"goalkeeper": 4}, {1: 10}, (1, 10), Seat(2, 3), [8],
        [Pair(5, None, 6)], None, 7,
    )  # fmt: skip
    moved = renumbered(DocumentSet("test-match", "k", msgspec.to_builtins(match)), hundred_more)
    assert isinstance(moved, DocumentSet)
    assert msgspec.convert(moved.value, Match) == Match(
        101, ((101, 102), (103,)), {"goalkeeper": 104}, {101: 10}, (101, 10), Seat(102, 3), [108],
        [Pair(105, None, 6)], None, 7,
    )  # fmt: skip


def test_players_where_nobody_finds_them_are_refused() -> None:
    class Odd(msgspec.Struct):
        players: list[PlayerNumber] | dict[str, PlayerNumber]

    with pytest.raises(TypeError, match="more than one"):
        declare("test-odd", Odd)


def test_boards_are_of_the_format_that_brought_their_rules() -> None:
    formats = {
        ("all-time",): 1,
        ("daily",): 4,  # it has a grace
    }
    for windows, written in formats.items():
        board = Board.parse("b", {"windows": windows})
        assert BoardSet("b", board.kept(), 1).written_format == written
        kept = Board.parse("b", {"windows": windows, "history": {}}).kept()
        assert BoardSet("b", kept, 1).written_format == KEEPING_FORMAT == 5


def test_keys_of_documents_that_name_players_are_renumbered() -> None:
    said = {"player": 7}
    due = DocumentSet("restriction-due", due_key(5, 7), said)
    moved = renumbered(due, lambda number: number + 1)
    assert moved == DocumentSet("restriction-due", due_key(5, 8), {"player": 8})
    gone = renumbered(DocumentSet("restriction", "7", None), lambda number: number + 1)
    assert gone == DocumentSet("restriction", "8", None)
    other = DocumentSet("test-pair", "7", None)
    assert renumbered(other, lambda number: number + 1) == other


def test_what_older_processes_cannot_read_says_so() -> None:
    assert EntriesSet("b", 3, ()).written_format == EntriesSet.format
    assert EntriesSet("b", 3, (), is_refolded=True).written_format == TRUST_FORMAT


def test_free_text_enters_the_audit_log_as_a_commitment() -> None:
    """Whoever adds a kind with such a field says so, or the log would show it for ever."""
    free = {"reason", "attributes", "details", "value", "note", "text", "name", "comment"}
    for kind in KINDS.values():
        assert free & set(kind.__struct_fields__) <= set(kind.private), kind
