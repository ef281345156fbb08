"""Random ladders in archives, with many ties and any size of row groups; and who is erased."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.archives.filed import Filed, file_period, set_group_rows
from tests.workbenches import open_profile
from toprung.archives.files import parse_location
from toprung.domain.board import Board
from toprung.domain.commands import ErasePlayer, SetBoard, SetPlayer, Submit
from toprung.domain.ladder import ERASED, Ladder, PastLadder
from toprung.domain.submission import Submission
from toprung.errors import Invalid
from toprung.ports import LadderIndex, Slice
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Opened

NAME = "all-time", "all"
AT = 1_794_745_800_000_000
PLAYERS = [*"abcd", "a1", "a10", "aa", "aaa", "b1", "\u00e9", "\U0001f3c6", "\uffff"]


class Told(NamedTuple):
    """A ladder in memory, and in an archive."""

    opened: Opened
    board: Board
    filed: Filed
    scope: str

    @property
    def live(self) -> tuple[LadderIndex, Ladder]:
        return self.opened.index, Ladder(self.board.id, *NAME, self.scope)

    @property
    def past(self) -> tuple[LadderIndex, Ladder]:
        return self.filed.index, PastLadder(self.board, *NAME, self.scope)


rows = st.lists(
    st.tuples(st.sampled_from(PLAYERS), st.integers(-1, 1), st.integers(0, 1), st.integers(-1, 1)),
    max_size=40,
)
rules = st.fixed_dictionaries(
    {
        "order": st.sampled_from(["desc", "asc"]),
        "tie_break": st.sampled_from(["first", "last", "player"]),
        "subscore": st.sampled_from([None, "asc", "desc"]),
    }
)


async def told(folder: Path, rules: dict[str, Any], rows: list[Any], scope: str) -> Told:
    """Submit, and archive what there is."""
    opened = open_profile("memory:", FrozenClock("2026-11-15T12:30:00Z"))
    journal = opened.journal
    for player in PLAYERS[::2]:
        await journal.record(SetPlayer(player, None, None, {"team": "red"}))
    rules = {"windows": ["all-time"], "scopes": ["team"], **rules}
    board = await journal.record(SetBoard("blitz", rules, "create"))
    assert isinstance(board, Board)
    submissions = [
        Submission(player, score, AT - at, None if board.subscore is None else subscore)
        for player, score, at, subscore in rows
    ]
    if submissions:
        await journal.record(Submit("blitz", board.generation, submissions, "test", False))
    reader = opened.maintenance.endings._reader  # type: ignore[attr-defined]
    contents = await reader.read(board, NAME)
    filed = await file_period(folder / "archive", board, NAME, contents, reader)
    return Told(opened, board, filed, scope)


async def answers(index: LadderIndex, ladder: Ladder, keys: list[bytes]) -> list[Any]:
    """What an index says: everything that can be asked of so small a ladder."""
    found: list[Any] = [await index.size(ladder), await index.scopes(ladder, "", 9)]
    size = found[0]
    for start in range(size + 2):
        found += [
            shown(await index.slice(ladder, start, start + length)) for length in (0, 1, 3, size)
        ]
    found.append(await index.places(ladder, [*PLAYERS, "nobody"]))
    for player in PLAYERS:
        found.append(await index.place(ladder, player))
        others = [each for each in PLAYERS[:5] if each != player]
        found += [await index.among(ladder, player, others, limit) for limit in (1, 3, None)]
        for span in ((0, 0), (2, 1), (0, 9)):
            around = await index.slice_around(ladder, player, *span)
            found.append(None if around is None else shown(around))
    found.append(await index.count_before(ladder, keys))
    for key in keys:
        for player in ("", *PLAYERS):
            for full in (False, True):
                at = await index.slice_at(ladder, key, player, 2, 3, full=full)
                found.append(shown(at))
    return found


def shown(found: Slice) -> Any:
    """What can be seen of a slice: nothing is said of what comes before no row."""
    return found if found.players else (found.total, found.tied_until)


@given(
    rows=rows, rules=rules, size=st.integers(1, 9), scope=st.sampled_from(["global", "team:red"])
)
def test_an_archive_answers_like_memory(
    rows: list[Any], rules: dict[str, Any], size: int, scope: str
) -> None:
    async def main() -> None:
        found = await told(Path(folder), rules, rows, scope)
        whole = await found.live[0].slice(found.live[1], 0, 100)
        width = 8 * found.board.shape.order
        keys = sorted({bytes(width), b"\xff" * width} | {r[:width] for r in whole.records})
        assert await answers(*found.past, keys) == await answers(*found.live, keys)
        await found.filed.archives.check(found.filed.period)
        found.filed.index.close()
        await found.opened.boards.close()

    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        set_group_rows(patch, size)
        asyncio.run(main())


@given(
    rows=rows,
    rules=rules,
    size=st.integers(1, 9),
    erased=st.lists(st.sampled_from(PLAYERS), unique=True, min_size=1),
)
def test_who_is_erased_leaves_an_empty_place(
    rows: list[Any], rules: dict[str, Any], size: int, erased: list[str]
) -> None:
    """Nobody else moves, and points of the order are still found where they were."""

    async def main() -> None:
        found = await told(Path(folder), rules, rows, "global")
        index, ladder = found.past
        before = await index.slice(ladder, 0, 100)
        players = [player for player in before.players if player not in erased]
        places = await index.places(ladder, players)
        numbers = list(await found.filed.index._reader.numbers(erased))
        for player, number in zip(erased, numbers, strict=True):
            if number is not None:
                await found.opened.journal.record(ErasePlayer(player))
        expected = before._replace(
            players=["" if player in erased else player for player in before.players]
        )
        for _ in range(2):  # hidden at once, then out of the files
            shown = await index.slice(ladder, 0, 100)
            named = ["" if player.endswith(ERASED) else player for player in shown.players]
            assert shown._replace(players=named) == expected
            assert await index.places(ladder, players) == places
            assert await index.places(ladder, erased) == [None] * len(erased)
            width = 8 * found.board.shape.order
            for player, place in zip(players, places, strict=True):
                assert place is not None
                point = place.record[:width], player
                at = await index.slice_at(ladder, *point, 0, 1, full=False)
                assert (at.players, at.first.offset) == ([player], place.offset), player
                after = await index.slice_at(ladder, point[0], f"{player}\0", 99, 0, full=False)
                assert [each for each in after.players if not each.endswith(ERASED)][-1] == player
            files = await found.filed.archives.without(
                found.filed.period, [number for number in numbers if number is not None]
            )
            if files is None:
                assert not set(before.players) & set(erased)
                break
            assert files.digest == found.filed.period.digest
            found.filed.catalogue.period = msgspec.structs.replace(found.filed.period, files=files)
            found.filed.index._known.clear()
            await found.filed.archives.check(found.filed.period)
        found.filed.index.close()
        await found.opened.boards.close()

    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        set_group_rows(patch, size)
        asyncio.run(main())


def test_a_url_of_a_file_has_no_host() -> None:
    with pytest.raises(Invalid, match="host"):
        parse_location("file://srv/archives")
