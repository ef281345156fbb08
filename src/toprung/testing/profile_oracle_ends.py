"""The end of periods, by an oracle: closed, settled, archived, amended; and snapshots before."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from toprung.domain.amendment import Changes, parse_changes, parse_reason
from toprung.domain.calendar import Period, PeriodState
from toprung.domain.entry import Entry
from toprung.domain.history import boundary
from toprung.domain.score import score_value
from toprung.domain.standing import AmendedStanding
from toprung.errors import Invalid, NotYet, PeriodGone, UnknownPeriod
from toprung.testing.profile_oracle_board import OracleBoard, PeriodName, named_window
from toprung.testing.profile_oracle_past import Ladders, Row, Settled, Taken, merged, rank_of
from toprung.testing.profile_oracle_state import OracleState


class Ended(NamedTuple):
    """What is told of a period that was closed or settled by hand."""

    state: PeriodState
    sizes: tuple[int, int] | None
    """Players and entries; None: it depends on what has left memory."""


class Amended(NamedTuple):
    """What is told of an amendment."""

    players: int
    entries: int
    amended: int
    moves: tuple[AmendedStanding, ...]


class OracleEnds(OracleState):
    """What happens to periods when their time is over, and before."""

    # --- closing and settling -------------------------------------------------------------------

    def end_periods(self) -> int:
        """Close, settle and archive what is due; how often."""
        done, now = 0, self.cautious
        for board in self.sorted_boards():
            for name, ended_at, window in board.to_end(now):
                closes_at = ended_at + (window.grace or 0) * 1_000_000
                is_there = board.is_occupied(name)
                if not board.is_closed(name) and is_there and closes_at <= now:
                    board.closed[name[0]] = ended_at
                    done += 1
                is_due = closes_at + window.review_time * 1_000_000 <= now
                was_closed = is_there or board.closed.get(name[0]) == ended_at
                if board.is_closed(name) and is_due and was_closed:
                    _settle(board, name, ended_at)
                    done += 1
        return done + self._archive_all()

    def end_period(self, board_id: str, window: str, period: str, *, settles: bool) -> Ended:
        """Close or settle a period by hand; its state then."""
        board, now = self.board(board_id), self.cautious
        name, ended_at = self._ended(board, window, period)
        if not (board.is_settled(name) if settles else board.is_closed(name)):
            self._check_turn(board, name, ended_at, settles=settles)
            if settles and not board.is_closed(name):
                raise NotYet("period", "")
            if settles:
                _settle(board, name, ended_at)
            else:
                board.closed[window] = ended_at
        return Ended(self.state(board, name), _sizes(board, name, now))

    def _ended(self, board: OracleBoard, window: str, period: str) -> tuple[PeriodName, int]:
        """A period that has ended, with its end."""
        found = named_window(board.rules, window)
        if found.grace is None:
            raise Invalid("window", "")
        this = board.period((window, period))
        if this is None:
            raise UnknownPeriod
        if this.closes_at is None or this.closes_at > self.cautious:
            raise NotYet("period", "")
        return (window, period), this.closes_at

    def _check_turn(self, board: OracleBoard, name: PeriodName, end: int, *, settles: bool) -> None:
        """Refuse to end a period before one of the same window that ended earlier."""
        for other, ended_at, _ in board.to_end(self.cautious):
            is_before = other[0] == name[0] and ended_at < end
            is_waiting = settles or not board.is_closed(other)
            if is_before and is_waiting and board.is_occupied(other):
                raise NotYet("period", "")

    # --- archives -------------------------------------------------------------------------------

    def _archive_all(self) -> int:
        """Archive what is settled, in order; delete what is not kept. How many were archived."""
        done, now = 0, self.cautious
        for board in self.sorted_boards():
            for name, settled in _unarchived(board, now) if self.archives else ():
                settled.archive = board.ladders(name)
                board.archived[name[0]] = settled.ended_at
                done += 1
            if self.archives:
                _expire(board, now)
        return done

    # --- amendments -----------------------------------------------------------------------------

    def amend(
        self, board_id: str, name: PeriodName, asked: dict[str, Any], *, dry_run: bool
    ) -> Amended:
        """Take players out of a settled period, or set their scores there."""
        board = self.board(board_id)
        self._ended(board, *name)
        parse_reason(asked["reason"])
        changes = parse_changes(board.rules, asked.get("remove", ()), asked.get("set", ()))
        if not board.is_settled(name):
            raise NotYet("period", "")
        settled = board.catalogue.get(name)
        if settled is None:
            raise Invalid("period", "")
        is_live = board.is_retained(name, self.cautious)
        before = board.ladders(name) if is_live else settled.archive
        if before is None:
            raise PeriodGone
        after = self._amended(board, before, changes, is_live=is_live)
        told = Amended(
            len(after.get("global", [])),
            sum(map(len, after.values())),
            settled.amended + 1,
            self._moves(board, before, after, changes),
        )
        if not dry_run:
            _apply(board, name, changes, after)
            board.catalogue[name] = Settled(
                settled.ended_at,
                *told[:3],
                None if settled.archive is None else after,
            )
        return told

    def _amended(
        self, board: OracleBoard, before: Ladders, changes: Changes, *, is_live: bool
    ) -> Ladders:
        """The ladders of a period after an amendment."""
        there = {row.number for row in before.get("global", [])}
        for player in changes.players:
            if self.numbers.get(player) not in there:
                raise Invalid(changes.field_of(player), "")
        named = {self.numbers[player] for player in changes.players}
        after: Ladders = {}
        unchanged = not changes.removed
        for scope, rows in before.items():
            added = [
                board.row(row.player, _corrected(changes, row))
                for row in rows
                if row.number in named and row.player in changes.corrected
            ]
            taken = [row for row in rows if row.number in named]
            unchanged = unchanged and taken == added
            rest = [row for row in rows if row.number not in named]
            after[scope] = self._ordered(board, rest, added, is_live=is_live)
        if unchanged:
            raise Invalid("set", "")
        return {scope: rows for scope, rows in after.items() if rows}

    def _ordered(
        self, board: OracleBoard, rest: list[Row], added: list[Row], *, is_live: bool
    ) -> list[Row]:
        order = {row.number: board.order(row.entry) for row in rest + added}
        erased = {row.number for row in rest if self.numbers.get(row.player) != row.number}
        assert not (is_live and erased), "nobody is in memory who was erased"
        return merged(rest, added, order, erased)

    def _moves(
        self, board: OracleBoard, before: Ladders, after: Ladders, changes: Changes
    ) -> tuple[AmendedStanding, ...]:
        """Those who are amended, then others who stand elsewhere; each by the rank of before."""
        ranking, decimals = board.rules.ranking, board.rules.decimals
        found = []
        now = {row.number: row for row in after.get("global", [])}
        for row in before.get("global", []):
            if self.numbers.get(row.player) != row.number:
                continue  # was erased
            old = rank_of(before["global"], row.number, ranking)
            new = rank_of(after.get("global", []), row.number, ranking)
            assert old is not None
            is_named = row.player in changes.players
            if is_named or old != new:
                then = now.get(row.number)
                score = None if then is None else score_value(then.entry.score, decimals)
                was = score_value(row.entry.score, decimals)
                move = AmendedStanding(row.player, new, score, old, was)
                found.append((not is_named, old, move))
        return tuple(move for _, _, move in sorted(found, key=lambda each: each[:2]))

    # --- snapshots ------------------------------------------------------------------------------

    def take_snapshots(self) -> int:
        """Keep the order of ladders of boards that have a history, if it is time; how many."""
        done, now = 0, self.cautious
        for board in self.sorted_boards():
            rule = board.rules.history
            if rule is None:
                board.snapshots.clear()
                continue
            due = boundary(rule, board.rules.timezone, now)
            assert due.opens_at is not None
            if all(each.boundary != due.opens_at for each in board.snapshots):
                board.snapshots.append(_taken(board, due, now))
                done += 1
            del board.snapshots[: -rule.keep]
        return done


def _settle(board: OracleBoard, name: PeriodName, ended_at: int) -> None:
    ladders = board.ladders(name)
    board.settled[name[0]] = ended_at
    players, entries = len(ladders.get("global", [])), sum(map(len, ladders.values()))
    before = board.catalogue.get(name)
    amended = 0 if before is None else before.amended + 1
    board.catalogue[name] = Settled(ended_at, players, entries, amended)


def _sizes(board: OracleBoard, name: PeriodName, now: int) -> tuple[int, int] | None:
    """How many players and entries a period has; or had when it was settled or amended."""
    if board.is_retained(name, now):
        ladders = board.ladders(name)
        return len(ladders.get("global", [])), sum(map(len, ladders.values()))
    settled = board.catalogue.get(name)
    return None if settled is None else (settled.players, settled.entries)


def _unarchived(board: OracleBoard, now: int) -> list[tuple[PeriodName, Settled]]:
    """Settled periods that wait for their archive, in the order of their ends."""
    found = []
    for name, settled in board.catalogue.items():
        window = board.window(name[0])
        is_kept = window is not None and window.keep != 0 and window.grace is not None
        is_waiting = board.is_settled(name) and not board.has_passed(name, board.archived)
        if is_kept and is_waiting and settled.players and settled.ended_at <= now:
            found.append((name, settled))
    return sorted(found, key=lambda each: (each[1].ended_at, each[0][0]))


def _expire(board: OracleBoard, now: int) -> None:
    """Delete archives that are older than `keep` says; those of windows that are gone stay."""
    for name, settled in board.catalogue.items():
        window = board.window(name[0])
        if window is None or window.keep is None:
            continue
        if _ended_since(board, name, window.keep, now) > window.keep:
            settled.archive = None


def _ended_since(board: OracleBoard, name: PeriodName, most: int, now: int) -> int:
    """How many periods have ended since this one did, itself included; one more than `most`."""
    window, period = board.window(name[0]), board.period(name)
    count = 0
    while window and period and period.closes_at and period.closes_at <= now and count <= most:
        count += 1
        period = board.rules.calendar(window).next(period)
    return count


def _corrected(changes: Changes, row: Row) -> Entry:
    """An entry as it is set: with its own time, and its own subscore unless one is said."""
    correction, entry = changes.corrected[row.player], row.entry
    subscore = entry.subscore if correction.subscore is None else correction.subscore
    return msgspec.structs.replace(entry, score=correction.score, subscore=subscore)


def _apply(board: OracleBoard, name: PeriodName, changes: Changes, after: Ladders) -> None:
    """Change what is in memory."""
    for player in changes.removed:
        board.remove_from(name, player)
    for row in after.get("global", []):
        if row.player in changes.corrected and row.player in board.results.get(name, {}):
            board.corrected.setdefault(name, {})[row.player] = row.entry


def _taken(board: OracleBoard, due: Period, now: int) -> Taken:
    ladders = {}
    for window in board.rules.windows:
        period = board.rules.calendar(window).period_at(now)
        if period is not None:
            for scope, rows in board.ladders((window.name, period.id)).items():
                ladders[window.name, period.id, scope] = rows
    assert due.opens_at is not None
    return Taken(due.id, due.opens_at, now, ladders)
