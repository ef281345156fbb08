"""Deciding a batch of submissions inside one transaction.

Order of locks, the same everywhere: rules of boards (shared, by `begin_batch`), then players by
id (`lock_players` makes those that do not exist, `lock_batch` locks them all). Under the locks the
players' cards are read, positions are drawn, every submission is decided in turn on the cards in
memory, and what changed is written: events, keys, cards, and one outbox row per board. Names
(routes, periods, scopes) are numbered on another connection and wait for nobody.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from toprung.domain.board import Board
from toprung.domain.card import HEAD, Card, entry_record, join_card, split_card
from toprung.domain.command import Receipt, Receipts, Submit, WindowOutcome
from toprung.domain.entry import Entry, check_increase
from toprung.domain.idempotency import NOBODY, owner_of
from toprung.domain.ladder import Ladder, UndenseLadder, nowhere, periods_of
from toprung.domain.outcomes import STATUSES, BatchOutcomes, Owner
from toprung.domain.player import GLOBAL
from toprung.domain.quotas import KeyUse
from toprung.domain.ranking import Counts
from toprung.domain.submission import Submission
from toprung.domain.timekeeping import Moment
from toprung.errors import ToprungError, UnknownBoard
from toprung.journals.card_rules import rule_of
from toprung.journals.postgres_ladders import Need, PostgresLadders, ScopeLadder
from toprung.journals.postgres_repeats import Raced, Repeats
from toprung.journals.postgres_routes import BoardRoutes, NumberedRoute, Wanted, player_scopes
from toprung.journals.postgres_rows import read_board
from toprung.journals.postgres_store import statement
from toprung.journals.postgres_time import PostgresTime
from toprung.pace import Work
from toprung.ports import CardChanges

Before = Mapping[tuple[Ladder, str], Counts | None]
"""What lies before players on ladders, until the batch is committed."""

SinkBefore = Callable[[Sequence[tuple[Ladder, str]]], Awaitable[list[Counts | None]]]

KeyRefusal = Callable[[KeyUse, int, str], ToprungError | None]
"""Judges one more key on a board (by generation) of an owner, after those of the batch."""


class Limits(NamedTuple):
    """What judges by quotas."""

    key_refusal: KeyRefusal
    ladders: PostgresLadders


SCORE_COLUMNS = (
    "position", "recorded_at", "generation", "player", "at", "score", "subscore", "route", "status",
    "kind", "details",
)  # fmt: skip


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

    def __init__(
        self, board: Board, routes: BoardRoutes, forgotten: int, *, has_unowned_keys: bool
    ) -> None:
        self.board = board
        self.routes = routes
        self.submissions: list[Submission] = []
        self.owners: list[Owner] = []
        self.has_late = False
        self.repeats = Repeats(board.generation, forgotten, has_unowned=has_unowned_keys)
        self.late: list[tuple[Owner, Submission]] = []
        """Submissions with a key that no period takes: refused, unless they repeat their key."""
        self.wanted_keys: set[str] = set()
        """New keys that submissions are going to try to use."""
        self.claimed: dict[str, Owner] = {}
        """New keys, and the submissions that got hold of them: the first that were not refused."""
        self.twins: list[tuple[Owner, Owner]] = []
        """Submissions that carry the key of an earlier one of the batch, and that one."""
        self.players: dict[str, PlayerState] = {}
        self.decided: list[tuple[Any, ...]] = []
        """Rows of events, as `SCORE_COLUMNS` says."""


class SubmitBatch:
    """A run of `Submit`s on its way through one transaction."""

    def __init__(
        self,
        commands: Sequence[Submit],
        moment: Moment,
        time: PostgresTime,
        known: set[str],
        routes_of: Callable[[Board], BoardRoutes],
        sink_before: SinkBefore,
        limits: Limits,
        *,
        has_unowned_keys: bool = True,
    ) -> None:
        self._commands = commands
        self._moment = moment
        self._time = time
        self._known = known
        """Ids of players that exist, as far as this process knows."""
        self._routes_of = routes_of
        self._before = sink_before
        self._key_refusal, self._ladders = limits
        self._has_unowned_keys = has_unowned_keys
        self._outcomes = BatchOutcomes(commands)
        self.boards: dict[str, Board] = {}
        self.changes: list[CardChanges] = []
        self._key_use = KeyUse()
        """The new keys that submissions of this batch try to use."""
        self.new_keys: dict[tuple[int, str], int] = {}
        """How many were used, by board generation and owner."""

    async def run(self, connection: Any, batch: UUID) -> list[Receipts | ToprungError]:
        """Decide and write everything; durable once the caller commits."""
        ids = sorted({command.board for command in self._commands})
        rows = await connection.fetch("SELECT * FROM begin_batch($1, $2)", batch, ids)
        self.boards = {row["id"]: read_board(row) for row in rows}
        groups = await self._sort_out()
        for group in groups:
            await self._drop_repeats(connection, group)
        positions = iter(await self._lock(connection, groups))
        before = await self._places(groups)
        for group in groups:
            if group.submissions:
                drawn = islice(positions, len(group.submissions))
                await self._decide(group, drawn, before)
                await self._write(connection, group)
        for group in groups:
            self._settle_late(group)
            for owner, first in group.twins:
                self._outcomes.settle_twin(owner, first)
        await self._drop_strangers(connection, groups)
        return self._outcomes.results()

    # --- which submissions take part -------------------------------------------------------------

    async def _sort_out(self) -> list[Group]:
        """Group by board what names a board that exists and a period that is retained."""
        groups: dict[str, Group] = {}
        async with Work() as work:
            for number, command in enumerate(self._commands):
                group = self._group(groups, number, command)
                if group is not None:
                    await self._take_in(group, number, command, work)
        return list(groups.values())

    def _group(self, groups: dict[str, Group], number: int, command: Submit) -> Group | None:
        """The group of a command's board; None if there is no such board."""
        board = self.boards.get(command.board)
        if board is None or board.generation != command.generation:
            self._outcomes.failed[number] = UnknownBoard(f"there is no board {command.board!r}")
            return None
        group = groups.get(board.id)
        if group is None:
            group = groups[board.id] = Group(
                board,
                self._routes_of(board),
                self._time.forgotten,
                has_unowned_keys=self._has_unowned_keys,
            )
            group.routes.roll(self._moment.now)
        return group

    async def _take_in(self, group: Group, number: int, command: Submit, work: Work) -> None:
        """Add a command's submissions to the group, except for those that come too late."""
        is_timely = group.routes.is_timely
        for i, submission in enumerate(command.submissions):
            if work.is_due():
                await work.rest()
            if submission.key is not None:
                group.repeats.want(submission.key)
            if not is_timely(submission):
                group.has_late = True
                # lateness matters to a keyed one only if its key is new
                if submission.key is None and not self._is_placed(group, (number, i), submission):
                    continue
            group.submissions.append(submission)
            group.owners.append((number, i))

    def _is_placed(self, group: Group, owner: Owner, submission: Submission) -> bool:
        """Whether some period takes the submission; if none does, it is set aside or rejected."""
        if group.routes.is_timely(submission):
            return True
        moment = self._moment
        if periods_of(group.board, submission.at, moment.now, moment.lenient)[0]:
            return True
        if submission.key is None:
            self._reject_late(group, owner)
        else:
            group.late.append((owner, submission))
        return False

    def _reject_late(self, group: Group, owner: Owner) -> None:
        at = self._outcomes.submission(owner).at
        self._outcomes.reject(owner, nowhere(group.board, at))

    def _settle_late(self, group: Group) -> None:
        """Answer what came too late, or after its key was used."""
        for owner, submission in group.late:
            first = group.claimed.get(submission.key or "")
            if first is not None and first < owner:
                group.twins.append((owner, first))
            else:
                self._reject_late(group, owner)

    async def _drop_repeats(self, connection: Any, group: Group) -> None:
        """Answer submissions whose key was used before; leave out new ones that are too late."""
        if not group.repeats:
            return
        await group.repeats.look_up(connection)
        kept: list[int] = []
        async with Work() as work:
            for at, (owner, submission) in enumerate(
                zip(group.owners, group.submissions, strict=True)
            ):
                if work.is_due():
                    await work.rest()
                if submission.key is None:
                    kept.append(at)
                elif (first := group.repeats.first(submission)) is not None:
                    receipt, is_same = first
                    if is_same:
                        self._outcomes.replay(owner, receipt)
                    else:
                        self._outcomes.reject_reused(owner)
                elif self._is_placed(group, owner, submission) and self._claim(
                    group, owner, submission.key
                ):
                    kept.append(at)
        group.submissions = [group.submissions[at] for at in kept]
        group.owners = [group.owners[at] for at in kept]

    def _claim(self, group: Group, owner: Owner, key: str) -> bool:
        """Whether a new key can be remembered: then it is tried to be used."""
        if key in group.wanted_keys:
            return True
        generation, whose = group.board.generation, owner_of(key) or NOBODY
        refusal = self._key_refusal(self._key_use, generation, whose)
        if refusal is not None:
            self._outcomes.reject(owner, refusal)
            return False
        group.wanted_keys.add(key)
        self._key_use.note(generation, whose)
        return True

    # --- locking and reading ---------------------------------------------------------------------

    async def _lock(self, connection: Any, groups: Sequence[Group]) -> list[int]:
        """Lock every player, make those that are new, read their cards; positions for all."""
        players = sorted({s.player for group in groups for s in group.submissions}, key=str.encode)
        if not players:
            return []
        if not self._known.issuperset(players):
            await connection.execute("SELECT lock_players($1)", players)
        numbers, attributes, cards, positions = await connection.fetchrow(
            "SELECT * FROM lock_batch($1, $2, $3, $4)",
            players,
            groups[0].board.generation,
            sum(len(group.submissions) for group in groups),
            any(len(group.board.scopes) > 1 for group in groups),
        )
        if positions is None:  # somebody was erased by another process
            self._known.clear()
            raise Raced
        self._known.update(players)
        for group in groups:
            if group is not groups[0]:
                cards = await connection.fetchval(
                    "SELECT read_cards($1, $2)", group.board.generation, numbers
                )
            group.players = await _player_states(group.board, players, numbers, attributes, cards)
        return positions  # type: ignore[no-any-return]

    async def _places(self, groups: Sequence[Group]) -> Before:
        """What lies before the players whose callers want to know, until this commit."""
        if not any(command.receipts for command in self._commands):
            return {}
        wanted: dict[tuple[Ladder, str], None] = {}
        now, since = self._moment.now, self._moment.lenient
        for group in groups:
            for submission, (command, _) in zip(group.submissions, group.owners, strict=True):
                if self._commands[command].receipts and group.players[submission.player].entries:
                    name = Ladder if group.board.ranking == "dense" else UndenseLadder
                    for window, period in periods_of(group.board, submission.at, now, since)[0]:
                        ladder = name(group.board.id, window.name, period.id, GLOBAL)
                        wanted[ladder, submission.player] = None
        if not wanted:
            return {}
        return dict(zip(wanted, await self._before(list(wanted)), strict=True))

    # --- deciding --------------------------------------------------------------------------------

    async def _decide(self, group: Group, positions: Iterator[int], before: Before) -> None:
        """Decide every submission in turn, on the cards as the ones before have left them."""
        commands, players, board = self._commands, group.players, group.board
        routes = await self._drop_crowded(group, await self._routes(group))
        rule, counts = rule_of(board), self._outcomes.counts
        recorded_at = self._moment.recorded_at
        guard = await self._guard(group)
        rows = zip(group.submissions, group.owners, routes, positions, strict=False)
        async with Work() as work:
            for submission, owner, route, position in rows:
                if work.is_due():
                    await work.rest()
                key = submission.key
                if key is not None and key in group.claimed:
                    group.twins.append((owner, group.claimed[key]))
                    continue
                state = players[submission.player]
                entries = state.entries
                current = list(map(entries.get, route.periods))
                try:
                    if board.max_increase is not None:
                        held = current[0] if guard is None else entries.get(guard)
                        check_increase(board, _entry(board, held), submission)
                    records = rule(board, current, submission, position)
                except ToprungError as error:
                    self._outcomes.reject(owner, error)
                    continue
                changed = 0
                for period, head, old, record in zip(
                    route.periods, route.heads, current, records, strict=True
                ):
                    if record is not None:  # an entry keeps its scopes
                        entries[period] = (head if old is None else old[:HEAD]) + record
                        changed = 1
                if changed:
                    state.version = position
                counts[owner[0]][changed] += 1
                group.decided.append(
                    (position, recorded_at, board.generation, state.number, submission.at,
                     submission.score, submission.subscore, route.number, changed, "score",
                     submission.details)
                )  # fmt: skip
                if key is not None or commands[owner[0]].receipts:
                    outcomes = _window_outcomes(board, route, current, records)
                    receipt = Receipt(position, STATUSES[changed], route.skipped, outcomes)
                    self._note(group, submission, owner, receipt, before)

    def _note(
        self, group: Group, submission: Submission, owner: Owner, receipt: Receipt, before: Before
    ) -> None:
        """Keep what is told of a submission, and what is remembered with its key."""
        player, board = submission.player, group.board.id
        places = tuple(
            before.get((Ladder(board, each.window, each.period, GLOBAL), player))
            for each in receipt.outcomes
        )
        receipt = msgspec.structs.replace(receipt, before=places)
        self._outcomes.receipts[owner] = receipt
        if submission.key is not None:  # a refused one leaves its key to the next
            group.claimed[submission.key] = owner
            home = group.board.generation, owner_of(submission.key) or NOBODY
            self.new_keys[home] = self.new_keys.get(home, 0) + 1
            group.repeats.add(submission, receipt, group.players[player].number)

    async def _guard(self, group: Group) -> bytes | None:
        """The period whose entries `max_increase` is judged by; None: the first of each route.

        It is the first of every route for the current periods.
        """
        if group.board.max_increase is None or not group.has_late:
            return None
        return await group.routes.guard_period(self._moment.now)

    async def _routes(self, group: Group) -> list[NumberedRoute]:
        """Where each submission counts."""
        commands, players = self._commands, group.players
        rows = zip(group.submissions, group.owners, strict=True)
        if group.has_late:
            wanted = [
                Wanted(s, commands[n].source, players[s.player].scopes, players[s.player].entries)
                for s, (n, _) in rows
            ]
            return await group.routes.find(wanted, self._moment)
        names = [(commands[n].source, players[s.player].scopes) for s, (n, _) in rows]
        return await group.routes.usual(names, self._moment.now)

    async def _drop_crowded(self, group: Group, routes: list[NumberedRoute]) -> list[NumberedRoute]:
        """Refuse what needs new ladders of scopes for which there is no room; the others' routes.

        Where a player has an entry, its ladders are there.
        """
        if len(group.board.scopes) == 1:
            return routes
        wanted: dict[int, Need] = {}
        async with Work() as work:
            for at, (submission, route) in enumerate(zip(group.submissions, routes, strict=True)):
                state = group.players[submission.player]
                ladders = _new_ladders(route, state.entries)
                if ladders:
                    wanted[at] = Need(state.number, ladders)
                if work.is_due():
                    await work.rest()
        answers = await self._ladders.admit(group.board, list(wanted.values()), "player")
        refused = {at: no for at, no in zip(wanted, answers, strict=True) if no is not None}
        if not refused:
            return routes
        for at, refusal in refused.items():
            self._outcomes.reject(group.owners[at], refusal)
        kept = [at for at in range(len(routes)) if at not in refused]
        group.submissions = [group.submissions[at] for at in kept]
        group.owners = [group.owners[at] for at in kept]
        return [routes[at] for at in kept]

    # --- writing ---------------------------------------------------------------------------------

    async def _drop_strangers(self, connection: Any, groups: Sequence[Group]) -> None:
        """Nobody becomes a player by submissions that only repeat keys of the same batch."""
        twins = {
            self._outcomes.submission(owner).player for group in groups for owner, _ in group.twins
        }
        if not twins:
            return
        states = [
            group.players[player] for group in groups for player in twins & set(group.players)
        ]
        recorded = {row[3] for group in groups for row in group.decided}
        idle = {state.number for state in states} - recorded
        if idle:
            await connection.execute(statement("drop_new_players"), list(idle))
            self._known -= twins

    async def _write(self, connection: Any, group: Group) -> None:
        if not group.decided:
            return
        await connection.copy_records_to_table(
            "events", records=group.decided, columns=SCORE_COLUMNS
        )
        await group.repeats.write(connection, self._moment.recorded_at)
        dirty = [(player, state) for player, state in group.players.items() if state.version]
        if not dirty:
            return
        await self._prune(connection, group, [state.entries for _, state in dirty])
        cards = []
        async with Work() as work:
            for player, state in dirty:
                cards.append(Card(player, state.version, join_card(state.entries.values())))
                if work.is_due():
                    await work.rest()
        versions = [card.version for card in cards]
        mark = await connection.fetchval(
            statement("put_cards_and_tell"),
            group.board.generation,
            [state.number for _, state in dirty],
            versions,
            [card.entries for card in cards],
            max(versions),
        )
        self.changes.append(CardChanges(mark, group.board, cards))

    async def _prune(
        self, connection: Any, group: Group, cards: Sequence[dict[bytes, bytes]]
    ) -> None:
        """Drop entries whose period left retention more than a day ago, by all there is to ask.

        What is known here may be a minute old: before anything goes, the database is asked.
        """
        if await group.routes.dead_among(cards, self._moment.horizon):
            dead = await group.routes.dead_among(cards, await self._time.horizon(connection))
            for entries in cards:
                for period in dead & entries.keys():
                    del entries[period]


async def _player_states(
    board: Board,
    players: Sequence[str],
    numbers: Sequence[int],
    attributes: Sequence[str] | None,
    cards: Sequence[bytes | None],
) -> dict[str, PlayerState]:
    shape, scopes = board.shape, board.scopes
    texts = ["{}"] * len(players) if attributes is None else attributes
    states: dict[str, PlayerState] = {}
    async with Work() as work:
        for player, number, text, card in zip(players, numbers, texts, cards, strict=True):
            if len(board.scopes) > 1:
                scopes = player_scopes(board, text)
            states[player] = PlayerState(number, scopes, split_card(card or b"", shape))
            if work.is_due():
                await work.rest()
    return states


def _new_ladders(route: NumberedRoute, entries: Mapping[bytes, bytes]) -> list[ScopeLadder]:
    """The ladders of scopes on which a player with these entries would be new."""
    return [
        (int.from_bytes(period), scope)
        for period, scopes in zip(route.periods, route.scopes, strict=True)
        if period not in entries
        for scope in scopes[1:]
    ]


def _entry(board: Board, entry: bytes | None) -> Entry | None:
    return None if entry is None else board.shape.entry(entry_record(entry))


def _window_outcomes(
    board: Board,
    route: NumberedRoute,
    current: Sequence[bytes | None],
    records: Sequence[bytes | None],
) -> tuple[WindowOutcome, ...]:
    """What a submission led to, window by window."""
    score = board.shape.score
    return tuple(
        WindowOutcome(
            stop.window,
            stop.period,
            score(record or entry_record(old or b"")),
            None if old is None else score(entry_record(old)),
        )
        for stop, old, record in zip(route.stops, current, records, strict=True)
    )
