"""A batch of submissions on its way through one transaction.

Order of locks, the same everywhere: rules of boards (shared, by `begin_batch`), players by id where
they are locked at all, then cards (`hold_cards`, which makes players that do not exist). Under the
locks the cards are read, positions are drawn, every submission is decided in turn on the cards in
memory, and what changed is written: events, keys, cards, and one outbox row per board. Names
(routes, periods, scopes) are numbered on another connection and wait for nobody. The index is not
asked: whoever brings the changes to it is told the places before and after (`results`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from toprung._native import BestCards
from toprung.domain.board import Board
from toprung.domain.card import Card, join_card, split_card
from toprung.domain.commands.batch import Batch
from toprung.domain.commands.card_rules import CardRoute, CardRules, PlayerCard, Suspect
from toprung.domain.commands.outcomes import PENDING, STATUSES
from toprung.domain.commands.repeats import KeyName, KeyRefusal, RecordedKey, UsedKey
from toprung.domain.commands.routing import Router
from toprung.domain.commands.submit import Receipt, Receipts, Submit, WindowOutcome
from toprung.domain.idempotency import unowned_digest
from toprung.domain.timekeeping import Moment
from toprung.domain.trust.pending import (
    NOT_JUDGED,
    Judge,
    Judged,
    Pended,
    no_room,
    pending_events,
)
from toprung.domain.trust.review import WAITING_MAX
from toprung.errors import ToprungError
from toprung.journals.postgres_board_cards import (
    ROUTE,
    BoardCards,
    ChangedCard,
    player_cards,
    ranks_told,
)
from toprung.journals.postgres_ladders import Need, PostgresLadders
from toprung.journals.postgres_review import WAITING_COUNT, add_waiting
from toprung.journals.postgres_routes import BoardRoutes, Wanted
from toprung.journals.postgres_rows import read_board
from toprung.journals.postgres_store import statement
from toprung.journals.postgres_time import PostgresTime
from toprung.journals.postgres_used_keys import KeyRow, add_keys, find_keys
from toprung.ports import Applied, CardChange, CardChanges
from toprung.waiting.pace import LongWork, in_turn


class Limits(NamedTuple):
    """What judges by quotas."""

    key_refusal: KeyRefusal
    ladders: PostgresLadders


class SubmitBatch:
    """A run of `Submit`s."""

    def __init__(
        self,
        commands: Sequence[Submit],
        moment: Moment,
        time: PostgresTime,
        routes_of: Callable[[Board], BoardRoutes],
        limits: Limits,
        *,
        has_unowned_keys: bool = True,
        locks_players: bool = True,
    ) -> None:
        """`locks_players`: because others at work lock nothing else."""
        self._commands = commands
        self._moment = moment
        self._time = time
        self._routes_of = routes_of
        self._locks_players = locks_players
        self._ladders = limits.ladders
        unowned = unowned_digest if has_unowned_keys else None
        self._batch: Batch[CardRoute] = Batch(commands, moment, limits.key_refusal, unowned)
        self._cards: list[BoardCards] = []
        self.boards: dict[str, Board] = {}
        self.changes: list[CardChanges] = []
        self.new_keys: dict[tuple[int, str], int] = {}
        """How many were used, by board generation and owner."""

    async def run(self, connection: Any, batch: UUID) -> None:
        """Decide and write everything; durable once the caller commits."""
        self._connection = connection
        ids = sorted({command.board for command in self._commands})
        rows = await connection.fetch("SELECT * FROM begin_batch($1, $2)", batch, ids)
        self.boards = {row["id"]: read_board(row) for row in rows}
        self._batch.group(self.boards.get, self._router)
        await self._sort_out(connection)
        self._cards = [
            BoardCards(group, self._routes_of(group.board))
            for group in sorted(self._batch.groups, key=lambda group: group.board.generation)
            if group.submissions
        ]
        await self._lock_players(connection)
        for each in self._cards:
            await self._lock(connection, each)
        for each in self._cards:
            await self._decide(each)
        used = self._batch.repeats.finish()
        await self._write_keys(connection, self._cards, used)
        for each in self._cards:
            await self._write(connection, each)
        await self._drop_strangers(connection, self._cards)

    def results(self, applied: Sequence[Applied] = ()) -> list[Receipts | ToprungError]:
        """What callers are told, given what became of `changes` in the index."""
        outcomes = self._batch.outcomes
        cards = {each.board.id: each for each in self._cards}
        for changes, (_, places) in zip(self.changes, applied, strict=False):
            for row_id, player, periods in cards[changes.board.id].told:
                ranks = ranks_told(places, player, periods)
                if ranks is not None:
                    receipt = outcomes.receipts[row_id]
                    outcomes.receipts[row_id] = msgspec.structs.replace(receipt, ranks=ranks)
        return outcomes.results()

    def _router(self, board: Board) -> Router[CardRoute]:
        return self._routes_of(board).router_at(self._moment.now)

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

    def _needs_players(self, board: Board) -> bool:
        """Whether players are locked, not only their cards: their attributes decide the scopes."""
        return self._locks_players or len(board.scopes) > 1

    async def _lock_players(self, connection: Any) -> None:
        """Where there are several boards, lock players of all of them before any card."""
        players = {
            submission.player
            for each in self._cards
            if self._needs_players(each.board)
            for submission in each.group.submissions
        }
        if players and len(self._cards) > 1:
            ordered = sorted(players, key=str.encode)
            await connection.execute("SELECT FROM lock_or_make($1)", ordered)

    async def _lock(self, connection: Any, each: BoardCards) -> None:
        """Lock the players' cards on a board and read them; positions for all submissions."""
        group, board = each.group, each.board
        players = sorted({s.player for s in group.submissions}, key=str.encode)
        taken = await connection.fetchrow(
            "SELECT * FROM take_cards($1, $2, $3, $4)",
            players,
            board.generation,
            len(group.submissions),
            self._needs_players(board),
        )
        numbers, attributes, versions, cards, places, each.positions, *restricted = taken
        each.numbers, each.attributes, each.places = numbers, attributes, places
        each.restricted = dict(zip(*(some or () for some in restricted), strict=True))
        each.found = list(map(Card, players, versions, [card or b"" for card in cards]))

    # --- deciding --------------------------------------------------------------------------------

    async def _decide(self, each: BoardCards) -> None:
        """Decide every submission in turn, on the cards as the ones before have left them."""
        sources = {command.source for command in self._commands}
        board, group = each.board, each.group
        if each.restricted:
            each.keep(self._batch.not_banned(group, each.restrictions))
        is_plain = len(board.scopes) == 1 and group.is_timely and not group.names
        is_plain = is_plain and not each.restricted
        if is_plain and board.policy == "best" and not board.is_guarded and len(sources) == 1:
            (route,) = await each.routes.usual(group.router, [(sources.pop(), board.scopes)])
            await self._decide_best(each, route)
        else:
            await self._decide_one_by_one(each)

    async def _decide_best(self, each: BoardCards, route: CardRoute) -> None:
        """Decide a batch of which all count alike and the best result wins, in one go."""
        submissions, shape = each.group.submissions, each.board.shape
        commands, row_ids = self._commands, each.group.row_ids
        tells = any(command.receipts for command in commands)
        cards = BestCards(
            [card.entries for card in each.found],
            tied=shape.tied,
            descending=shape.descending,
            last_wins=shape.last_wins,
        )
        statuses, told = await in_turn(
            lambda: cards.decide(submissions, each.index, each.positions, route.stops_bytes, tells),
            len(submissions),
        )
        index, numbers, of_route = each.index, each.numbers, route.number
        each.decided = await in_turn(
            lambda: [
                (position, numbers[index[s.player]], s.at, s.score, s.subscore, of_route, status,
                 s.details)
                for s, position, status in zip(submissions, each.positions, statuses, strict=True)
            ],
            len(submissions),
        )  # fmt: skip
        for (number, _), status in zip(row_ids, statuses, strict=True):
            self._batch.outcomes.counts[number][status] += 1
        for at, scores in enumerate(told or ()):
            row_id = row_ids[at]
            if commands[row_id[0]].receipts:
                outcomes = tuple(
                    WindowOutcome(*stop, *pair)
                    for stop, pair in zip(route.stops, scores, strict=True)
                )
                self._tell(each, at, route, statuses[at], outcomes)
        await self._note_changed(each, cards.periods(), cards.changed())

    async def _note_changed(
        self, each: BoardCards, periods: set[bytes], changed: Sequence[tuple[int, int, bytes]]
    ) -> None:
        """Keep (index, version, entries) of cards, without the entries that are obsolete."""
        dead = await self._dead(each, periods)
        async with LongWork() as work:
            for at, version, entries in changed:
                kept = entries
                if dead:
                    split = split_card(entries, each.board.shape)
                    kept = join_card(entry for period, entry in split.items() if period not in dead)
                found = each.found[at]
                new = Card(found.player, version, kept)
                each.changed.append(ChangedCard(each.numbers[at], new, found, each.places[at]))
                if work.is_due():
                    await work.rest()

    def _tell(
        self,
        each: BoardCards,
        at: int,
        route: CardRoute,
        status: int,
        outcomes: tuple[WindowOutcome, ...],
    ) -> None:
        """Note the receipt of the submission at an index, and whether its places are wanted."""
        row_id = each.group.row_ids[at]
        self._batch.outcomes.receipts[row_id] = Receipt(
            each.positions[at], STATUSES[status], route.skipped, outcomes
        )
        if self._commands[row_id[0]].receipts and not route.is_hidden:
            each.told.append((row_id, each.group.submissions[at].player, route.periods))

    async def _decide_one_by_one(self, each: BoardCards) -> None:
        """Decide whatever there is to be decided, by the rules of the domain."""
        players = await player_cards(each)
        routes = await self._drop_crowded(each, players, await self._routes(each, players))
        rules = CardRules(each.board, await self._guard(each))
        outcomes, repeats = self._batch.outcomes, self._batch.repeats
        judge = await self._judge(each)
        async with LongWork() as work:
            for at, ((submission, row_id), route) in enumerate(zip(each.rows, routes, strict=True)):
                if work.is_due():
                    await work.rest()
                names = each.group.names.get(row_id)
                if names is not None and repeats.is_used(names.first):
                    continue
                card, position = players[submission.player], each.positions[at]
                judged = NOT_JUDGED if judge is None else judge.judge(*row_id)
                try:
                    decided = rules.decide(card, submission, route, position, judged.limits)
                    if isinstance(decided, Suspect):
                        self._set_aside(each, at, route, card.number, decided.score, judged)
                        continue
                except ToprungError as error:
                    outcomes.reject(row_id, error)
                    continue
                outcomes.counts[row_id[0]][decided.changed] += 1
                each.decided.append(
                    (position, card.number, submission.at, submission.score, submission.subscore,
                     route.number, decided.changed, submission.details)
                )  # fmt: skip
                if names is not None or self._commands[row_id[0]].receipts:
                    told = rules.outcomes(route, decided)
                    self._tell(each, at, route, decided.changed, told)
                if names is not None:
                    repeats.use(names.first)
        dirty = [(at, players[card.player]) for at, card in enumerate(each.found)]
        changed = [(at, card.version, card.entries) for at, card in dirty if card.version]
        periods = {period for _, _, entries in changed for period in entries}
        joined = await in_turn(
            lambda: [(at, version, join_card(e.values())) for at, version, e in changed],
            len(changed),
        )
        await self._note_changed(each, periods, joined)

    async def _judge(self, each: BoardCards) -> Judge | None:
        """What says which submissions wait for a verdict, if the board has such a rule."""
        board = each.board
        if board.review is None:
            return None
        waiting = await self._connection.fetchval(WAITING_COUNT, board.generation)
        each.room = max(0, WAITING_MAX - waiting)
        restricted = each.restrictions
        return Judge(board, self._commands, lambda player: restricted.get(player, {}))

    def _set_aside(
        self,
        each: BoardCards,
        at: int,
        route: CardRoute,
        number: int,
        score: int,
        judged: Judged,
    ) -> None:
        """Have the submission at an index wait for a verdict; or raise that there is no room."""
        if not each.room:
            raise no_room(each.board)
        each.room -= 1
        submission, row_id = each.group.submissions[at], each.group.row_ids[at]
        position = each.positions[at]
        pended = Pended(position, number, submission, route.stops, score, judged)
        each.pended.append(pended)
        each.decided.append(
            (position, number, submission.at, submission.score, submission.subscore,
             route.number, PENDING, submission.details)
        )  # fmt: skip
        self._batch.outcomes.pending[row_id[0]] += 1
        names = each.group.names.get(row_id)
        if names is not None:
            self._batch.repeats.use(names[0])
        if names is not None or self._commands[row_id[0]].receipts:
            self._batch.outcomes.receipts[row_id] = Receipt(
                position, "pending", route.skipped, reasons=pended.reasons(each.board)
            )

    async def _guard(self, each: BoardCards) -> bytes | None:
        """The period whose entries submissions are judged by; None: the first of each route.

        It is the first of every route for the current periods.
        """
        if not each.board.is_guarded or each.group.is_timely:
            return None
        return await each.routes.guard_period(self._moment.now)

    async def _routes(self, each: BoardCards, cards: Mapping[str, PlayerCard]) -> list[CardRoute]:
        """Where each submission counts."""
        commands = self._commands
        rows = [(s, commands[number].source, cards[s.player]) for s, (number, _) in each.rows]
        if not each.group.is_timely:
            wanted = [Wanted(*row) for row in rows]
            return await each.routes.find(each.group.router, wanted, self._moment)
        names = [(source, card.scopes) for _, source, card in rows]
        return await each.routes.usual(each.group.router, names)

    async def _drop_crowded(
        self, each: BoardCards, cards: Mapping[str, PlayerCard], routes: list[CardRoute]
    ) -> list[CardRoute]:
        """Refuse what needs new ladders of scopes for which there is no room; the others' routes.

        Where a player has an entry, its ladders are there.
        """
        if len(each.board.scopes) == 1:
            return routes
        wanted: dict[int, Need] = {}
        async with LongWork() as work:
            for at, (submission, route) in enumerate(
                zip(each.group.submissions, routes, strict=True)
            ):
                card = cards[submission.player]
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
        each.keep(kept)
        return [routes[at] for at in kept]

    # --- writing ---------------------------------------------------------------------------------

    async def _write_keys(
        self, connection: Any, boards: Sequence[BoardCards], used: Sequence[UsedKey]
    ) -> None:
        """Record the new keys, with what is told to who repeats them."""
        cards = {each.board.generation: each for each in boards}
        rows: dict[int, list[KeyRow]] = {}
        for key in used:
            generation, digest = key.name
            submission = self._batch.outcomes.submission(key.row_id)
            number = cards[generation].number(submission.player)
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
        known = {each.number(player) for each in boards for player in twins & each.index.keys()}
        idle = known - {row[1] for each in boards for row in each.decided}
        if idle:
            await connection.execute(statement("drop_new_players"), list(idle))

    async def _write(self, connection: Any, each: BoardCards) -> None:
        if not each.decided:
            return
        made = [changed for changed in each.changed if changed.place is None]
        held = [changed for changed in each.changed if changed.place is not None]
        outbox_id = await connection.fetchval(
            statement("add_scores"),
            each.board.generation,
            self._moment.recorded_at,
            *each.columns(),
            [changed.number for changed in each.changed],
            [changed.number for changed in made],
            [changed.card.version for changed in made],
            [changed.card.entries for changed in made],
            [changed.place for changed in held],
            [changed.card.version for changed in held],
            [changed.card.entries for changed in held],
            max([changed.card.version for changed in each.changed], default=0),
            each.decided[0][ROUTE],
        )
        changes = [CardChange(changed.card, changed.found) for changed in each.changed]
        asked = each.asked()
        if changes or asked:
            self.changes.append(CardChanges(outbox_id or 0, each.board, changes, asked))
        if each.pended:
            recorded_at = self._moment.recorded_at
            bodies = [
                body
                for pended in each.pended
                for body in pending_events(each.board, pended, recorded_at)
            ]
            await add_waiting(connection, bodies, recorded_at)

    async def _dead(self, each: BoardCards, periods: set[bytes]) -> set[bytes]:
        """Those of the periods that left retention more than a day ago, by all there is to ask.

        What is known here may be a minute old: before anything goes, the database is asked.
        """
        if not await each.routes.dead_among(periods, self._moment.horizon):
            return set()
        return await each.routes.dead_among(periods, await self._time.horizon(self._connection))
