"""Commands that wait together fare as they would one after the other, whatever they are."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.workbenches import EmbeddedWorkbench, open_profile
from toprung.domain.board import Board
from toprung.domain.commands import (
    Befriend,
    Bundle,
    Command,
    DeleteBoard,
    ErasePlayer,
    PatchPlayer,
    RemoveEntries,
    SetBoard,
    SetDocument,
    SetEntries,
    SetPlayer,
    Submit,
    Unfriend,
)
from toprung.domain.commands.submit import Receipts
from toprung.domain.documents import declare
from toprung.domain.entry import Entry
from toprung.domain.submission import Submission
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Opened

NOW = "2026-11-15T12:30:00Z"
AT = 1_794_745_800_000_000
RULES: dict[str, Any] = {"policy": "sum", "scopes": ["country"], "windows": ["all-time"]}
PLAYERS = st.sampled_from(["ann", "bob", "cy"])
BOARDS = st.sampled_from(["blitz", "cup"])
GENERATIONS = {"blitz": 1, "cup": 2}


class Tag(msgspec.Struct, frozen=True):
    text: str


declare("test-tag", Tag)


def submissions(board: str, rows: list[tuple[str, int, str | None]]) -> Submit:
    made = [
        Submission(player, score, AT, key=key, digest=None if key is None else b"%d" % score)
        for player, score, key in rows
    ]
    return Submit(board, GENERATIONS[board], made)


def entries(board: str, player: str, score: int) -> SetEntries:
    return SetEntries(
        board, GENERATIONS[board], player, {("all-time", "all"): Entry(score, None, AT, 0)}
    )


ATTRIBUTES = st.sampled_from([{}, {"country": "US"}, {"country": "DE"}])
KEYS = st.sampled_from([None, "\x1fk", "\x1fl"])
SUBMITS = st.builds(
    submissions, BOARDS, st.lists(st.tuples(PLAYERS, st.integers(1, 9), KEYS), min_size=1)
)
SINGLES = st.one_of(
    st.builds(
        lambda player, attributes: SetPlayer(player, None, None, attributes), PLAYERS, ATTRIBUTES
    ),
    st.builds(lambda player, name: PatchPlayer(player, name=name), PLAYERS, st.sampled_from("AB")),
    st.builds(ErasePlayer, PLAYERS),
    st.builds(RemoveEntries, BOARDS, PLAYERS),
    st.builds(Befriend, PLAYERS, PLAYERS),
    st.builds(Unfriend, PLAYERS, PLAYERS),
    st.builds(entries, BOARDS, PLAYERS, st.integers(1, 99)),
    st.builds(
        SetDocument,
        st.just("test-tag"),
        st.sampled_from("xy"),
        st.one_of(st.none(), st.builds(Tag, st.sampled_from("pq"))),
        st.one_of(st.none(), st.just(0)),
    ),
)
RULE_CHANGES = st.one_of(
    st.builds(lambda board: SetBoard(board, {"title": "T"}, "patch"), BOARDS),
    st.builds(lambda board: SetBoard(board, {"scopes": []}, "patch"), BOARDS),
    st.builds(DeleteBoard, st.just("cup")),
)
BUNDLES = st.builds(
    lambda parts: Bundle(tuple(parts)), st.lists(st.one_of(SINGLES, SUBMITS), max_size=3)
)
COMMANDS = st.lists(st.one_of(SUBMITS, SINGLES, SINGLES, RULE_CHANGES, BUNDLES), max_size=12)


async def outcome(opened: Opened, command: Command) -> Any:
    """What became of a command, without the positions, which the order of a commit decides."""
    try:
        return plain(await opened.journal.record(command))
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is the same on both sides
        return type(error)


def plain(result: Any) -> Any:
    match result:
        case tuple():
            return [plain(each) for each in result]
        case Receipts():
            told = [(each.status, each.replayed, each.outcomes) for each in result.receipts]
            refused = [(at, type(error)) for at, error in result.rejected]
            return result.accepted, result.unchanged, result.duplicates, told, refused
        case Board():
            return result.rules()
        case int():
            return "a version"
        case _:
            return result


async def state(opened: Opened) -> Any:
    journal, found = opened.journal, {}
    for player in ("ann", "bob", "cy"):
        found[player] = await journal.profiles([player]), sorted(await journal.friends(player))
    documents = await journal.documents("test-tag")
    tops = {}
    for board in await journal.boards():
        for scope in ("global", *(["country:US", "country:DE"] if len(board.scopes) > 1 else [])):
            top = await (await opened.boards.board(board.id)).top(10, scope=scope)
            tops[board.id, scope] = [(row.player, row.score, row.rank) for row in top]
    return found, {key: each.value for key, each in documents.items()}, tops


async def recorded(opened: Opened, commands: list[Command], *, together: bool) -> Any:
    """What became of commands, and what they led to."""
    try:
        for board in GENERATIONS:
            await opened.journal.record(SetBoard(board, RULES, "create"))
        if together:
            told = await asyncio.gather(*(outcome(opened, each) for each in commands))
        else:
            told = [await outcome(opened, each) for each in commands]
        assert await opened.boards.verify() == []
        return list(told), await state(opened)
    finally:
        await opened.boards.close()


async def one_by_one(commands: list[Command]) -> Any:
    """What commands lead to that are recorded one after the other, in memory."""
    return await recorded(in_memory(), commands, together=False)


def in_memory() -> Opened:
    return open_profile("memory:", FrozenClock(NOW))


@settings(deadline=None)
@given(commands=COMMANDS)
@example(
    commands=[
        submissions("blitz", [("ann", 1, "\x1fk")]),
        ErasePlayer("ann"),
        submissions("blitz", [("bob", 1, "\x1fk")]),
    ]
)
def test_together_is_as_one_after_the_other(commands: list[Command]) -> None:
    async def main() -> None:
        alone = await one_by_one(commands)
        assert await recorded(in_memory(), commands, together=True) == alone

    asyncio.run(main())


def test_submissions_beside_a_player_who_moves_to_the_same_scope(tmp_path: Path) -> None:
    """The move changed the sets on which the submissions of the same commit had been planned."""
    bench = EmbeddedWorkbench(tmp_path)
    shared: list[Command] = [
        SetPlayer("bob", None, None, {"country": "US"}),
        submissions("blitz", [("cy", 3, None)]),
    ]

    async def main() -> None:
        opened = await bench.open(FrozenClock(NOW))
        for board in GENERATIONS:
            await opened.journal.record(SetBoard(board, RULES, "create"))
        await opened.journal.record(SetPlayer("cy", None, None, {"country": "US"}))
        await opened.journal.record(submissions("blitz", [("bob", 5, None), ("cy", 1, None)]))
        with bench.stalled(opened):
            tasks = [asyncio.create_task(opened.journal.record(each)) for each in shared]
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        assert await opened.boards.verify() == []
        top = await (await opened.boards.board("blitz")).top(scope="country:US")
        assert [(row.player, row.score) for row in top] == [("bob", 5), ("cy", 4)]
        await opened.boards.close()

    asyncio.run(main())
