"""The submissions of a batch for one board, in columns: for core, journal and callers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import Any, TypeAlias

import msgspec

from toprung._native import Merge
from toprung.domain.board import Board
from toprung.domain.commands import Submit
from toprung.domain.commands.batch import Group
from toprung.domain.commands.outcomes import PENDING, STATUSES, BatchOutcomes, Outcomes, RowId
from toprung.domain.commands.submit import Receipt, WindowOutcome
from toprung.domain.entry import excessive_increase, hasty_increase, score_overflow
from toprung.domain.ladder import Skipped
from toprung.domain.ranking import ranking_count
from toprung.domain.submission import Submission
from toprung.domain.trust.pending import Judged, Pended, no_room
from toprung.errors import ToprungError
from toprung.indexes.routes import Routed

Numbered: TypeAlias = tuple[Routed, Skipped]
"""A route in use, and the windows that submissions which take it missed."""


class Merging:
    """A group of submissions on its way through the native core; what is found out is added."""

    merge: Merge
    """What the board's rule makes of them."""

    def __init__(self, group: Group[Numbered]) -> None:
        self.group = group
        self.board = group.board
        self.watched: Sequence[bool] = ()
        """Whether somebody wants a receipt of each, or its outcome is recorded; or nothing is."""
        self.numbers: Sequence[int] = ()
        """The number of each one's player."""
        self.routed: list[Numbered] = []
        """Where each counts."""
        self.versions: Sequence[int] = ()
        """The position of each; 0 if it was refused."""
        self.statuses = b""
        """What was decided of each, as `Merge` numbers it."""
        self.judged: list[Judged] = []
        """From which scores on each waits for a verdict; empty if the board has no such rule."""
        self.pended: list[Pended] = []
        """Those that wait. They come again behind the others, which were merged."""

    @property
    def submissions(self) -> list[Submission]:
        """The submissions themselves."""
        return self.group.submissions

    @property
    def row_ids(self) -> list[RowId]:
        """Whose they are."""
        return self.group.row_ids

    @property
    def is_keyed(self) -> bool:
        """Whether any of them has a key."""
        return bool(self.group.names)

    @property
    def routes(self) -> dict[int, Routed]:
        """The routes that any of them takes, by number."""
        return {routed.number: routed for routed, _ in self.routed}

    def watch(self, commands: Sequence[Submit]) -> None:
        """Find out of which submissions the outcome is wanted."""
        row_ids = {number for number, _ in self.row_ids}
        if self.is_keyed or any(commands[number].receipts for number in row_ids):
            self.watched = [
                commands[number].receipts or submission.key is not None
                for (number, _), submission in zip(self.row_ids, self.submissions, strict=True)
            ]

    def columns(self, routes: list[int]) -> array[int]:
        """The rows of a Merge, which knows its routes by these numbers."""
        rows = self.submissions
        columns: list[Sequence[int]] = [
            self.numbers, routes, [s.at for s in rows], [s.score for s in rows],
        ]  # fmt: skip
        if self.board.shape.tied > 1:
            columns.append([s.subscore or 0 for s in rows])
        return array("q", list(chain.from_iterable(zip(*columns, strict=True))))

    def set_aside(self, first_position: int) -> None:
        """Put the submissions that have to wait behind the others, with positions of their own."""
        waiting = [i for i, status in enumerate(self.statuses) if status == Merge.SUSPECT]
        led_to = memoryview(self.merge.led_to).cast("q")
        for position, i in enumerate(waiting, first_position):
            submission, (routed, _) = self.submissions[i], self.routed[i]
            self.pended.append(
                Pended(
                    position,
                    self.numbers[i],
                    submission,
                    tuple(routed.stops),
                    led_to[i],
                    self.judged[i],
                )
            )
        positions = [each.position for each in self.pended]
        numbers, versions = array("I"), array("q")
        numbers.frombytes(memoryview(self.numbers).cast("B"))  # type: ignore[arg-type]
        versions.frombytes(memoryview(self.versions).cast("B"))  # type: ignore[arg-type]
        numbers.extend([numbers[i] for i in waiting])
        versions.extend(positions)
        self.numbers, self.versions = numbers, versions
        self.statuses += bytes([PENDING]) * len(waiting)
        self.routed += [self.routed[i] for i in waiting]
        if self.watched:
            self.watched = [*self.watched, *(self.watched[i] for i in waiting)]
        self.group.submissions += [self.submissions[i] for i in waiting]
        self.group.row_ids += [self.row_ids[i] for i in waiting]

    @property
    def merged_count(self) -> int:
        """How many of the submissions were merged, refused ones included."""
        return len(self.submissions) - len(self.pended)

    @property
    def touched(self) -> list[Routed]:
        """The routes on which something may have changed."""
        if not self.pended:
            return list(self.routes.values())
        found = zip(self.routed[: self.merged_count], self.versions, strict=False)
        return list({routed.number: routed for (routed, _), at in found if at}.values())

    def details(self) -> list[tuple[int, bytes]]:
        """(position, details) of the recorded submissions that have any."""
        details = [s.details for s in self.submissions]
        if not any(details):
            return []
        found = zip(self.versions, details, strict=True)
        return [(version, body) for version, body in found if version and body]

    def journal_rows(
        self, previous: list[int], links: Iterable[int | None], recorded_at: int
    ) -> Iterable[tuple[Any, ...]]:
        """The `SUBMISSION_COLUMNS` of every submission that was not refused.

        `previous` is the position of each player's submission before it, `links` that of the one
        before it on this board where that is another.
        """
        rows, statuses = self.submissions, self.statuses
        outcomes: Iterable[bytes | None] = repeat(None)
        if self.is_keyed:
            outcomes = [self._outcomes(i) for i in range(len(rows))]
        values = zip(
            self.versions,
            [routed.number for routed, _ in self.routed],
            self.numbers,
            previous,
            repeat(recorded_at),
            [s.at for s in rows],
            [s.score for s in rows],
            [s.subscore for s in rows],
            statuses,
            [s.key for s in rows],
            [s.digest for s in rows],
            outcomes,
            links,
            strict=False,
        )
        if max(statuses) > Merge.ACCEPTED:
            return [row for row in values if row[0]]
        return values

    def _outcomes(self, i: int) -> bytes | None:
        """What is recorded with a submission's key."""
        if self.submissions[i].key is None:
            return None
        routed, skipped = self.routed[i]
        if i >= self.merged_count:
            reasons = self.pended[i - self.merged_count].reasons(self.board)
            return msgspec.json.encode(Outcomes((), skipped, reasons))
        found = zip(routed.stops, self.merge.outcomes(i), strict=False)  # none if it was refused
        outcomes = tuple([WindowOutcome(*stop, *scores[:2]) for stop, scores in found])
        return msgspec.json.encode(Outcomes(outcomes, skipped))

    def count(self, outcomes: BatchOutcomes) -> None:
        """Count what was accepted and what was not, by command."""
        statuses = self.statuses
        first, last = self.row_ids[0][0], self.row_ids[-1][0]
        if first == last:
            for status in (Merge.UNCHANGED, Merge.ACCEPTED):
                outcomes.counts[first][status] += statuses.count(status)
            if max(statuses) <= Merge.ACCEPTED:
                return
            found = [i for i, status in enumerate(statuses) if status > Merge.ACCEPTED]
            others = [(self.row_ids[i], statuses[i]) for i in found]
        else:
            others = list(zip(self.row_ids, statuses, strict=True))
        for row_id, status in others:
            if status == Merge.SUSPECT:
                outcomes.pending[row_id[0]] += 1
            elif status > Merge.ACCEPTED:
                outcomes.reject(row_id, _refusal(self.board, status))
            else:
                outcomes.counts[row_id[0]][status] += 1

    def write_receipts(self, outcomes: BatchOutcomes) -> None:
        """Tell of each watched submission what it did, with the places that apply looked up."""
        merge, watched, versions = self.merge, self.watched, self.versions
        statuses, receipts = self.statuses, outcomes.receipts
        count = ranking_count(self.board.ranking)
        for i, row_id in enumerate(self.row_ids):
            if not watched[i] or not versions[i]:
                continue
            routed, skipped = self.routed[i]
            if i >= self.merged_count:
                reasons = self.pended[i - self.merged_count].reasons(self.board)
                receipts[row_id] = Receipt(versions[i], "pending", skipped, reasons=reasons)
                continue
            windows, ranks = [], []
            for (window, period), (score, previous, stood, stands, total) in zip(
                routed.stops, merge.outcomes(i), strict=True
            ):
                assert stands is not None
                windows.append(WindowOutcome(window, period, score, previous))
                ranks.append(
                    (stands[count] + 1, None if stood is None else stood[count] + 1, total)
                )
            receipts[row_id] = Receipt(
                versions[i],
                STATUSES[statuses[i]],
                skipped,
                tuple(windows),
                ranks=() if routed.is_hidden else tuple(ranks),
            )


def _refusal(board: Board, status: int) -> ToprungError:
    if status == Merge.OVERFLOW:
        return score_overflow("score")
    if status == Merge.CROWDED:
        return no_room(board)
    if status == Merge.HASTY and board.max_per is not None:
        return hasty_increase(board, board.max_per)
    return excessive_increase(board, board.max_increase or 0)
