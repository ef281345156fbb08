"""Deciding a batch of submissions inside one transaction.

Order of locks, the same everywhere: rules of boards (shared, by `begin_batch`), then players by
id (`lock_players`). Under the locks the players' cards are read, positions are drawn, every
submission is decided in turn on the cards in memory, and what changed is written: cards, events,
keys, and one outbox row per board. Names (routes, periods, scopes) are numbered on another
connection and wait for nobody.

The rule is `domain.entry.decide`; for policy "best" it is one comparison of records, because
records are ordered like results (`better`); a test holds the two together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec

from toprung.domain.board import Board
from toprung.domain.card import Card, entry_record, join_card, split_card
from toprung.domain.command import Receipt, Receipts, Status, Submit, WindowOutcome
from toprung.domain.entry import Entry, check_increase, decide
from toprung.domain.ladder import Ladder, UndenseLadder, periods_of
from toprung.domain.player import GLOBAL
from toprung.domain.ranking import Counts
from toprung.domain.submission import Submission
from toprung.errors import (
    KeyReused,
    ScoreOverflow,
    TooLate,
    ToprungError,
    UnknownBoard,
)
from toprung.journals.postgres_routes import (
    BoardRoutes,
    NumberedRoute,
    Wanted,
    player_scopes,
)
from toprung.journals.postgres_store import statement
from toprung.ports import CardChanges

KEY_LIFE = 2 * 86_400_000_000
"""How long (microseconds) an idempotency key is remembered: 48 hours, of which 24 are promised."""

STATUSES: tuple[Status, ...] = ("unchanged", "accepted")
"""What the column `events.status` means."""

SCORE_COLUMNS = (
    "position", "recorded_at", "generation", "player", "at", "score", "subscore", "route", "status",
    "kind", "details",
)  # fmt: skip

Owner = tuple[int, int]
"""(command, index within it) of a submission."""


class Raced(Exception):  # noqa: N818 -- never leaves the journal
    """Another process used a key, or erased a player, meanwhile; the batch is tried again."""


class Outcomes(msgspec.Struct, frozen=True, array_like=True):
    """What is recorded with a key, to answer a repeat."""

    outcomes: tuple[WindowOutcome, ...]
    skipped: tuple[str, ...]


class PlayerState:
    """A locked player and its card on one board, as the batch leaves it."""

    __slots__ = ("entries", "number", "scopes", "version")

    def __init__(self, number: int, scopes: tuple[str, ...], entries: dict[bytes, bytes]) -> None:
        self.number = number
        self.scopes = scopes
        self.entries = entries
        self.version = 0
        """The position of the last event of this batch that changed the card; 0 if none did."""


class Group:
    """The submissions of a batch for one board."""

    def __init__(self, board: Board, routes: BoardRoutes) -> None:
        self.board = board
        self.routes = routes
        self.submissions: list[Submission] = []
        self.owners: list[Owner] = []
        self.keys: set[bytes] = set()
        self.twins: list[tuple[Owner, Owner]] = []
        """Submissions that carry the key of an earlier one of the batch, and that one."""
        self.players: dict[str, PlayerState] = {}
        self.columns: list[tuple[Any, ...]] = []
        self.key_rows: list[tuple[Any, ...]] = []


class SubmitBatch:
    """A run of `Submit`s on its way through one transaction."""

    def __init__(
        self,
        commands: Sequence[Submit],
        now: int,
        known: set[str],
        routes_of: Callable[[Board], BoardRoutes],
        sink_before: Callable[[list[tuple[Ladder, str]]], Any],
    ) -> None:
        self._commands = commands
        self._now = now
        self._known = known
        """Ids of players that exist, as far as this process knows."""
        self._routes_of = routes_of
        self._before = sink_before
        self._failed: dict[int, ToprungError] = {}
        self._rejected: dict[Owner, ToprungError] = {}
        self._receipts: dict[Owner, Receipt] = {}
        self._tally = [[0, 0, 0] for _ in commands]
        self._groups: dict[str, Group] = {}
        self.boards: dict[str, Board] = {}
        self.changes: list[CardChanges] = []

    async def run(self, connection: Any, batch: UUID) -> list[Receipts | ToprungError]:
        """Decide and write everything; durable once the caller commits."""
        ids = sorted({command.board for command in self._commands})
        rows = await connection.fetch("SELECT * FROM begin_batch($1, $2)", batch, ids)
        self.boards = {row["id"]: read_board(row) for row in rows}
        groups = self._groups = self._sort_out()
        for group in groups.values():
            await self._drop_repeats(connection, group)
        players = {s.player for group in groups.values() for s in group.submissions}
        locked = await self._lock(connection, sorted(players, key=str.encode))
        for group in groups.values():
            if group.submissions:
                await self._read_cards(connection, group, locked)
        before = await self._places(groups)
        count = sum(len(group.submissions) for group in groups.values())
        positions: list[int] = []
        if count:
            positions = await connection.fetchval("SELECT draw_positions($1)", count)
        for group in groups.values():
            if group.submissions:
                await self._decide(group, positions, before)
                await self._write(connection, group)
        self._settle_twins()
        return [self._result(number, command) for number, command in enumerate(self._commands)]

    # --- which submissions take part -------------------------------------------------------------

    def _sort_out(self) -> dict[str, Group]:
        """Group by board what names a board that exists and a period that is retained."""
        groups: dict[str, Group] = {}
        for number, command in enumerate(self._commands):
            board = self.boards.get(command.board)
            if board is None or board.generation != command.generation:
                self._failed[number] = UnknownBoard(f"there is no board {command.board!r}")
                continue
            group = groups.get(board.id)
            if group is None:
                group = groups[board.id] = Group(board, self._routes_of(board))
                group.routes.roll(self._now)
            for i, submission in enumerate(command.submissions):
                if self._is_fresh(group, (number, i), submission):
                    group.submissions.append(submission)
                    group.owners.append((number, i))
        return groups

    def _is_fresh(self, group: Group, owner: Owner, submission: Submission) -> bool:
        if submission.key is not None:
            group.keys.add(key_hash(submission.key))
            return True  # whether it is too late matters only if the key is new
        return self._is_placed(group, owner, submission)

    def _is_placed(self, group: Group, owner: Owner, submission: Submission) -> bool:
        """Whether some period takes the submission; if none does, it is rejected."""
        if group.routes.is_timely(submission):
            return True
        if periods_of(group.board, submission.at, self._now)[0]:
            return True
        detail = f"belongs to no period that board {group.board.id!r} still retains"
        self._rejected[owner] = TooLate("at", detail)
        return False

    async def _drop_repeats(self, connection: Any, group: Group) -> None:
        """Answer submissions whose key was used before; reject new ones that are too late."""
        if not group.keys:
            return
        found = await connection.fetch(
            statement("find_keys"),
            group.board.generation,
            list(group.keys),
            self._now - KEY_LIFE,
        )
        known = {row["key"]: row for row in found}
        claimed: dict[bytes, Owner] = {}
        kept: list[int] = []
        for at, (owner, submission) in enumerate(zip(group.owners, group.submissions, strict=True)):
            key = None if submission.key is None else key_hash(submission.key)
            if key is None:
                kept.append(at)
            elif key in known:
                self._repeat(owner, submission, known[key])
            elif key in claimed:
                group.twins.append((owner, claimed[key]))
            elif self._is_placed(group, owner, submission):  # else it leaves its key to others
                claimed[key] = owner
                kept.append(at)
        group.submissions = [group.submissions[at] for at in kept]
        group.owners = [group.owners[at] for at in kept]

    def _repeat(self, owner: Owner, submission: Submission, row: Mapping[str, Any]) -> None:
        if row["digest"] != submission.digest:
            self._rejected[owner] = _reused(submission)
            return
        first = msgspec.json.decode(row["outcome"], type=Outcomes)
        self._receipts[owner] = Receipt(
            row["position"], STATUSES[row["status"]], first.skipped, first.outcomes, replayed=True
        )
        self._tally[owner[0]][2] += 1

    # --- deciding --------------------------------------------------------------------------------

    async def _lock(self, connection: Any, players: list[str]) -> dict[str, tuple[int, str]]:
        """Number and attributes of every player; all are locked now, new ones made."""
        if not players:
            return {}
        if not self._known.issuperset(players):
            await connection.execute("SELECT lock_players($1)", players)
        rows = await connection.fetch(statement("lock_known_players"), players)
        if len(rows) < len(players):  # erased by another process
            self._known.clear()
            raise Raced
        self._known.update(players)
        return {player: (number, attributes) for player, number, attributes in rows}

    async def _read_cards(
        self, connection: Any, group: Group, locked: Mapping[str, tuple[int, str]]
    ) -> None:
        board = group.board
        ids = {submission.player: locked[submission.player] for submission in group.submissions}
        rows = await connection.fetch(
            statement("entries_of_players"),
            board.generation,
            [number for number, _ in ids.values()],
        )
        cards = dict(map(tuple, rows))
        for player, (number, attributes) in ids.items():
            group.players[player] = PlayerState(
                number,
                player_scopes(board, attributes),
                split_card(cards.get(number, b""), board.shape),
            )

    async def _places(self, groups: dict[str, Group]) -> dict[tuple[Ladder, str], Counts | None]:
        """What lies before the players whose callers want to know, until this commit."""
        wanted: dict[tuple[Ladder, str], None] = {}
        for group in groups.values():
            for submission, (command, _) in zip(group.submissions, group.owners, strict=True):
                if self._commands[command].receipts and group.players[submission.player].entries:
                    name = Ladder if group.board.ranking == "dense" else UndenseLadder
                    for window, period in periods_of(group.board, submission.at, self._now)[0]:
                        ladder = name(group.board.id, window.name, period.id, GLOBAL)
                        wanted[ladder, submission.player] = None
        if not wanted:
            return {}
        return dict(zip(wanted, await self._before(list(wanted)), strict=True))

    async def _decide(
        self,
        group: Group,
        positions: list[int],
        before: dict[tuple[Ladder, str], Counts | None],
    ) -> None:
        players, commands = group.players, self._commands
        wanted = [
            Wanted(
                s, commands[owner[0]].source, players[s.player].scopes, players[s.player].entries
            )
            for s, owner in zip(group.submissions, group.owners, strict=True)
        ]
        routes = await group.routes.find(wanted, self._now)
        rule = _RULES[group.board.policy]
        drawn = iter(positions[: len(wanted)])
        del positions[: len(wanted)]
        for submission, owner, route in zip(group.submissions, group.owners, routes, strict=True):
            state, position = players[submission.player], next(drawn)
            current = [state.entries.get(stop.period_number) for stop in route.stops]
            try:
                if group.board.max_increase is not None and current[0] is not None:
                    guard = group.board.shape.entry(entry_record(current[0]))
                    check_increase(group.board, guard, submission)
                records = rule(group.board, current, submission, position)
            except ToprungError as error:
                self._rejected[owner] = (
                    ScoreOverflow("score", error.detail)
                    if isinstance(error, ScoreOverflow)
                    else error
                )
                continue
            changed = False
            for stop, old, record in zip(route.stops, current, records, strict=True):
                if record is not None or old is None:
                    state.entries[stop.period_number] = stop.head + (record or b"")
                    changed = True
            if changed:
                state.version = position
            self._note(group, owner, submission, position, changed, route, current, records, before)

    def _note(  # noqa: PLR0913, PLR0917 -- one row of a batch, in all its parts
        self,
        group: Group,
        owner: Owner,
        submission: Submission,
        position: int,
        changed: bool,
        route: NumberedRoute,
        current: list[bytes | None],
        records: list[bytes | None],
        before: dict[tuple[Ladder, str], Counts | None],
    ) -> None:
        """Count one decided row, remember what will be written, make its receipt if wanted."""
        number = group.players[submission.player].number
        self._tally[owner[0]][changed] += 1
        group.columns.append(
            (position, self._now, group.board.generation, number, submission.at, submission.score,
             submission.subscore, route.number, int(changed), "score", submission.details)
        )  # fmt: skip
        if submission.key is None and not self._commands[owner[0]].receipts:
            return
        score = group.board.shape.score
        outcomes = tuple(
            WindowOutcome(
                stop.window,
                stop.period,
                score(record or entry_record(old or b"")),
                None if old is None else score(entry_record(old)),
            )
            for stop, old, record in zip(route.stops, current, records, strict=True)
        )
        places = tuple(
            before.get(
                (Ladder(group.board.id, stop.window, stop.period, GLOBAL), submission.player)
            )
            for stop in route.stops
        )
        self._receipts[owner] = Receipt(
            position, STATUSES[changed], route.skipped, outcomes, replayed=False, before=places
        )
        if submission.key is not None:
            body = msgspec.json.encode(Outcomes(outcomes, route.skipped))
            group.key_rows.append(
                (key_hash(submission.key), submission.digest, position, int(changed), body, number)
            )

    # --- writing ---------------------------------------------------------------------------------

    async def _write(self, connection: Any, group: Group) -> None:
        if not group.columns:
            return
        board, generation = group.board, group.board.generation
        dirty = [(player, state) for player, state in group.players.items() if state.version]
        await group.routes.find_dead((state.entries for _, state in dirty), self._now)
        cards = []
        for player, state in dirty:
            group.routes.prune(state.entries)
            cards.append(Card(player, state.version, join_card(state.entries.values())))
        numbers = [state.number for _, state in dirty]
        if cards:
            await connection.execute(
                statement("put_cards"),
                generation,
                numbers,
                [card.version for card in cards],
                [card.entries for card in cards],
            )
        await connection.copy_records_to_table(
            "events", records=group.columns, columns=SCORE_COLUMNS
        )
        if group.key_rows:
            group.key_rows.sort()
            added = await connection.fetch(
                statement("add_keys"),
                generation,
                self._now,
                self._now - KEY_LIFE,
                *[list(column) for column in zip(*group.key_rows, strict=True)],
            )
            if len(added) < len(group.key_rows):
                raise Raced
        if cards:
            version = max(card.version for card in cards)
            mark = await connection.fetchval(
                statement("add_outbox"), generation, version, numbers, []
            )
            self.changes.append(CardChanges(mark, board, cards))

    # --- results ---------------------------------------------------------------------------------

    def _settle_twins(self) -> None:
        """Answer submissions that repeat the key of an earlier one of the same batch."""
        twins = (twin for group in self._groups.values() for twin in group.twins)
        for owner, first in twins:
            submission = self._submission(owner)
            if submission.digest != self._submission(first).digest:
                self._rejected[owner] = _reused(submission)
            elif first in self._rejected:
                self._rejected[owner] = self._rejected[first]
            else:
                found = msgspec.structs.replace(self._receipts[first], replayed=True, before=())
                self._receipts[owner] = found
                self._tally[owner[0]][2] += 1

    def _submission(self, owner: Owner) -> Submission:
        return self._commands[owner[0]].submissions[owner[1]]

    def _result(self, number: int, command: Submit) -> Receipts | ToprungError:
        if number in self._failed:
            return self._failed[number]
        owners = [(number, i) for i in range(len(command.submissions))]
        rejected = tuple((o[1], self._rejected[o]) for o in owners if o in self._rejected)
        receipts: tuple[Receipt, ...] = ()
        if command.receipts:
            receipts = tuple(self._receipts[o] for o in owners if o in self._receipts)
        unchanged, accepted, duplicates = self._tally[number]
        return Receipts(accepted, unchanged, duplicates, rejected, receipts)


# --- the rule, on records ------------------------------------------------------------------------


def _best(
    board: Board, current: list[bytes | None], submission: Submission, position: int
) -> list[bytes | None]:
    """The new records, None where the old entry stays.

    Records compare like results: all words but the version, smaller is better.
    """
    entry = Entry(submission.score, submission.subscore, submission.at, position)
    record = board.shape.record(entry)
    merit = record[:-8]
    return [record if old is None or merit < old[8:-8] else None for old in current]


def _by_decide(
    board: Board, current: list[bytes | None], submission: Submission, position: int
) -> list[bytes | None]:
    shape = board.shape
    records: list[bytes | None] = []
    for old in current:
        entry = None if old is None else shape.entry(entry_record(old))
        new = decide(board, entry, submission, position)
        records.append(None if new is entry else shape.record(new))
    return records


_RULES = {"best": _best, "latest": _by_decide, "sum": _by_decide}


def key_hash(key: str) -> bytes:
    """What an idempotency key is remembered by."""
    return hashlib.blake2b(key.encode(), digest_size=16).digest()


def read_board(row: Mapping[str, Any]) -> Board:
    """A board from its row; the same object for the same rules, so that it keeps its calendars."""
    return _board(row["id"], row["rules"], row["version"], row["generation"])


@lru_cache(maxsize=4096)
def _board(board_id: str, rules: str, version: int, generation: int) -> Board:
    board = Board.parse(board_id, msgspec.json.decode(rules))
    return board.recorded(version, generation)


def _reused(submission: Submission) -> KeyReused:
    return KeyReused("key", f"{submission.key!r} was used before with another submission")
