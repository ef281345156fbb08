"""A batch of submissions on its way through one transaction.

Order of locks, the same everywhere: rules of boards (shared, by `begin_batch`), then players by
id (`lock_players` makes those that do not exist, `lock_batch` locks them all). Under the locks the
players' cards are read, positions are drawn, every submission is decided in turn on the cards in
memory, and what changed is written: events, keys, cards, and one outbox row per board. Names
(routes, periods, scopes) are numbered on another connection and wait for nobody.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from toprung.domain.board import Board
from toprung.domain.card import Card, join_card, split_card
from toprung.domain.commands.batch import Batch, Group
from toprung.domain.commands.card_rules import CardRoute, CardRules, Decided, PlayerCard
from toprung.domain.commands.outcomes import STATUSES, RowId
from toprung.domain.commands.repeats import KeyName, KeyRefusal, RecordedKey, UsedKey
from toprung.domain.commands.routing import Router
from toprung.domain.commands.submit import Receipt, Receipts, Submit
from toprung.domain.idempotency import unowned_digest
from toprung.domain.ladder import Ladder, UndenseLadder, periods_of
from toprung.domain.player import GLOBAL
from toprung.domain.ranking import Counts
from toprung.domain.submission import Submission
from toprung.domain.timekeeping import Moment
from toprung.errors import ToprungError
from toprung.journals.postgres_ladders import Need, PostgresLadders
from toprung.journals.postgres_routes import BoardRoutes, Wanted, player_scopes
from toprung.journals.postgres_rows import read_board
from toprung.journals.postgres_store import statement
from toprung.journals.postgres_time import PostgresTime
from toprung.journals.postgres_used_keys import KeyRow, Raced, add_keys, find_keys
from toprung.ports import CardChanges
from toprung.waiting.pace import LongWork

Before: TypeAlias = Mapping[tuple[Ladder, str], Counts | None]
"""What lies before players on ladders, until the batch is committed."""

SinkBefore: TypeAlias = Callable[[Sequence[tuple[Ladder, str]]], Awaitable[list[Counts | None]]]


class Limits(NamedTuple):
    """What judges by quotas."""

    key_refusal: KeyRefusal
    ladders: PostgresLadders


SCORE_COLUMNS = (
    "position", "recorded_at", "generation", "player", "at", "score", "subscore", "route", "status",
    "kind", "details",
)  # fmt: skip


class BoardCards:
    """The cards of a group's players, and what is written of its submissions."""

    def __init__(self, group: Group[CardRoute], routes: BoardRoutes) -> None:
        self.group = group
        self.board = group.board
        self.routes = routes
        self.players: dict[str, PlayerCard] = {}
        self.decided: list[tuple[Any, ...]] = []
        """Rows of events, as `SCORE_COLUMNS` says."""

    @property
    def rows(self) -> Iterator[tuple[Submission, RowId, PlayerCard]]:
        """The submissions, whose they are, and their players' cards."""
        for submission, row_id in zip(self.group.submissions, self.group.row_ids, strict=True):
            yield submission, row_id, self.players[submission.player]


class SubmitBatch:
    """A run of `Submit`s."""

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
        self._ladders = limits.ladders
        unowned = unowned_digest if has_unowned_keys else None
        self._batch: Batch[CardRoute] = Batch(commands, moment, limits.key_refusal, unowned)
        self.boards: dict[str, Board] = {}
        self.changes: list[CardChanges] = []
        self.new_keys: dict[tuple[int, str], int] = {}
        """How many were used, by board generation and owner."""

    async def run(self, connection: Any, batch: UUID) -> list[Receipts | ToprungError]:
        """Decide and write everything; durable once the caller commits."""
        ids = sorted({command.board for command in self._commands})
        rows = await connection.fetch("SELECT * FROM begin_batch($1, $2)", batch, ids)
        self.boards = {row["id"]: read_board(row) for row in rows}
        self._batch.group(self.boards.get, self._router)
        await self._sort_out(connection)
        cards = [
            BoardCards(group, self._routes_of(group.board))
            for group in self._batch.groups
            if group.submissions
        ]
        positions = iter(await self._lock(connection, cards))
        before = await self._places(cards)
        for each in cards:
            await self._decide(each, islice(positions, len(each.group.submissions)), before)
        used = self._batch.repeats.finish()
        await self._write_keys(connection, cards, used)
        for each in cards:
            await self._write(connection, each)
        await self._drop_strangers(connection, cards)
        return self._batch.outcomes.results()

    def _router(self, board: Board) -> Router[CardRoute]:
        router = self._routes_of(board).router
        router.roll(self._moment.now)
        return router

    async def _sort_out(self, connection: Any) -> None:
        """Leave out what is a repeat or too late."""
        batch, forgotten = self._batch, self._time.forgotten
        recorded: dict[KeyName, RecordedKey] = {}
        for group in batch.groups:
            if wanted := batch.wanted(group):
                recorded |= await find_keys(connection, group.board.generation, wanted, forgotten)
        batch.repeats.recall(recorded)
        async with LongWork() as work:
            for group in filter(batch.is_judged, batch.groups):
                kept = []
                for i in range(len(group.submissions)):
                    if batch.takes_part(group, i):
                        kept.append(i)
                    if work.is_due():
                        await work.rest()
                group.keep(kept)

    # --- locking and reading ---------------------------------------------------------------------

    async def _lock(self, connection: Any, boards: Sequence[BoardCards]) -> list[int]:
        """Lock every player, make those that are new, read their cards; positions for all."""
        groups = [each.group for each in boards]
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
        for each in boards:
            if each is not boards[0]:
                cards = await connection.fetchval(
                    "SELECT read_cards($1, $2)", each.board.generation, numbers
                )
            each.players = await _player_cards(each.board, players, numbers, attributes, cards)
        return positions  # type: ignore[no-any-return]

    async def _places(self, boards: Sequence[BoardCards]) -> Before:
        """What lies before the players whose callers want to know, until this commit."""
        if not any(command.receipts for command in self._commands):
            return {}
        wanted: dict[tuple[Ladder, str], None] = {}
        now, since = self._moment.now, self._moment.lenient
        for each in boards:
            board = each.board
            name = Ladder if board.ranking == "dense" else UndenseLadder
            for submission, (command, _), card in each.rows:
                if self._commands[command].receipts and card.entries:
                    for window, period in periods_of(board, submission.at, now, since)[0]:
                        ladder = name(board.id, window.name, period.id, GLOBAL)
                        wanted[ladder, submission.player] = None
        if not wanted:
            return {}
        return dict(zip(wanted, await self._before(list(wanted)), strict=True))

    # --- deciding --------------------------------------------------------------------------------

    async def _decide(self, each: BoardCards, positions: Iterator[int], before: Before) -> None:
        """Decide every submission in turn, on the cards as the ones before have left them."""
        group, board, outcomes = each.group, each.board, self._batch.outcomes
        routes = await self._drop_crowded(each, await self._routes(each))
        rules = CardRules(board, await self._guard(each))
        recorded_at, repeats = self._moment.recorded_at, self._batch.repeats
        async with LongWork() as work:
            for (submission, row_id, card), route, position in zip(
                each.rows, routes, positions, strict=False
            ):
                if work.is_due():
                    await work.rest()
                names = group.names.get(row_id)
                if names is not None and repeats.is_used(names[0]):
                    continue
                try:
                    decided = rules.decide(card, submission, route, position)
                except ToprungError as error:
                    outcomes.reject(row_id, error)
                    continue
                outcomes.counts[row_id[0]][decided.changed] += 1
                each.decided.append(
                    (position, recorded_at, board.generation, card.number, submission.at,
                     submission.score, submission.subscore, route.number, decided.changed, "score",
                     submission.details)
                )  # fmt: skip
                if names is not None or self._commands[row_id[0]].receipts:
                    receipt = _receipt(rules, submission, route, decided, position, board, before)
                    outcomes.receipts[row_id] = receipt
                if names is not None:
                    repeats.use(names[0])

    async def _guard(self, each: BoardCards) -> bytes | None:
        """The period whose entries `max_increase` is judged by; None: the first of each route.

        It is the first of every route for the current periods.
        """
        if each.board.max_increase is None or each.group.is_timely:
            return None
        return await each.routes.guard_period(self._moment.now)

    async def _routes(self, each: BoardCards) -> list[CardRoute]:
        """Where each submission counts."""
        commands = self._commands
        if not each.group.is_timely:
            wanted = [
                Wanted(s, commands[number].source, card) for s, (number, _), card in each.rows
            ]
            return await each.routes.find(wanted, self._moment)
        names = [(commands[number].source, card.scopes) for _, (number, _), card in each.rows]
        return await each.routes.usual(names)

    async def _drop_crowded(self, each: BoardCards, routes: list[CardRoute]) -> list[CardRoute]:
        """Refuse what needs new ladders of scopes for which there is no room; the others' routes.

        Where a player has an entry, its ladders are there.
        """
        if len(each.board.scopes) == 1:
            return routes
        wanted: dict[int, Need] = {}
        async with LongWork() as work:
            for at, ((_, _, card), route) in enumerate(zip(each.rows, routes, strict=True)):
                ladders = route.new_scopes(card)
                if ladders:
                    wanted[at] = Need(card.number, ladders)
                if work.is_due():
                    await work.rest()
        answers = await self._ladders.admit(each.board, list(wanted.values()), "player")
        refused = {at: no for at, no in zip(wanted, answers, strict=True) if no is not None}
        if not refused:
            return routes
        for at, refusal in refused.items():
            self._batch.outcomes.reject(each.group.row_ids[at], refusal)
        kept = [at for at in range(len(routes)) if at not in refused]
        each.group.keep(kept)
        return [routes[at] for at in kept]

    # --- writing ---------------------------------------------------------------------------------

    async def _write_keys(
        self, connection: Any, boards: Sequence[BoardCards], used: Sequence[UsedKey]
    ) -> None:
        """Record the new keys, with what is told to who repeats them."""
        cards = {each.board.generation: each.players for each in boards}
        rows: dict[int, list[KeyRow]] = {}
        for key in used:
            generation, digest = key.name
            submission = self._batch.outcomes.submission(key.row_id)
            number = cards[generation][submission.player].number
            status = STATUSES.index(key.receipt.status)
            told = (key.receipt.submission, status, key.outcomes, number)
            rows.setdefault(generation, []).append((digest, submission.digest, *told))
            home = generation, key.whose
            self.new_keys[home] = self.new_keys.get(home, 0) + 1
        for generation, some in rows.items():
            recorded_at, forgotten = self._moment.recorded_at, self._time.forgotten
            await add_keys(connection, generation, some, recorded_at, forgotten)

    async def _drop_strangers(self, connection: Any, boards: Sequence[BoardCards]) -> None:
        """Nobody becomes a player by submissions that only repeat keys of the same batch."""
        outcomes = self._batch.outcomes
        twins = {outcomes.submission(row_id).player for row_id in self._batch.repeats.twins}
        if not twins:
            return
        cards = [each.players[player] for each in boards for player in twins & set(each.players)]
        recorded = {row[3] for each in boards for row in each.decided}
        idle = {card.number for card in cards} - recorded
        if idle:
            await connection.execute(statement("drop_new_players"), list(idle))
            self._known -= twins

    async def _write(self, connection: Any, each: BoardCards) -> None:
        if not each.decided:
            return
        await connection.copy_records_to_table(
            "events", records=each.decided, columns=SCORE_COLUMNS
        )
        dirty = [(player, card) for player, card in each.players.items() if card.version]
        if not dirty:
            return
        await self._prune(connection, each, [card.entries for _, card in dirty])
        cards = []
        async with LongWork() as work:
            for player, card in dirty:
                cards.append(Card(player, card.version, join_card(card.entries.values())))
                if work.is_due():
                    await work.rest()
        versions = [card.version for card in cards]
        outbox_id = await connection.fetchval(
            statement("put_cards_and_tell"),
            each.board.generation,
            [card.number for _, card in dirty],
            versions,
            [card.entries for card in cards],
            max(versions),
            each.decided[0][0],
        )
        self.changes.append(CardChanges(outbox_id, each.board, cards))

    async def _prune(
        self, connection: Any, each: BoardCards, cards: Sequence[dict[bytes, bytes]]
    ) -> None:
        """Drop entries whose period left retention more than a day ago, by all there is to ask.

        What is known here may be a minute old: before anything goes, the database is asked.
        """
        if await each.routes.dead_among(cards, self._moment.horizon):
            dead = await each.routes.dead_among(cards, await self._time.horizon(connection))
            for entries in cards:
                for period in dead & entries.keys():
                    del entries[period]


async def _player_cards(
    board: Board,
    players: Sequence[str],
    numbers: Sequence[int],
    attributes: Sequence[str] | None,
    cards: Sequence[bytes | None],
) -> dict[str, PlayerCard]:
    shape, scopes = board.shape, board.scopes
    texts = ["{}"] * len(players) if attributes is None else attributes
    found: dict[str, PlayerCard] = {}
    async with LongWork() as work:
        for player, number, text, card in zip(players, numbers, texts, cards, strict=True):
            if len(board.scopes) > 1:
                scopes = player_scopes(board, text)
            found[player] = PlayerCard(number, scopes, split_card(card or b"", shape))
            if work.is_due():
                await work.rest()
    return found


def _receipt(
    rules: CardRules,
    submission: Submission,
    route: CardRoute,
    decided: Decided,
    position: int,
    board: Board,
    before: Before,
) -> Receipt:
    """What is told of a submission, with the places that its player had before."""
    outcomes = rules.outcomes(route, decided)
    places = tuple(
        before.get((Ladder(board.id, each.window, each.period, GLOBAL), submission.player))
        for each in outcomes
    )
    status = STATUSES[decided.changed]
    return Receipt(position, status, route.skipped, outcomes, before=places)
