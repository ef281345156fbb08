"""The fold: all state of the embedded profile, derived from the journal's events in order.

The same code serves the living and the dead: a command becomes an event, the event is made
durable, and `apply` folds it in; replay folds the recorded events in again. Nothing in `apply`
asks the clock, the zone database or today's rules. Submissions, which are many, are decided in
batches by `submit_plan`; this module holds the rest.

Only the journal's writer thread calls anything that changes state.
"""

from __future__ import annotations

import os
from array import array
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from toprung.domain.board import Board
from toprung.domain.board_table import BoardTable
from toprung.domain.commands import Command, Submit
from toprung.domain.commands.routing import Router
from toprung.domain.events import (
    Acted,
    Befriended,
    BoardDeleted,
    BoardSet,
    DocumentSet,
    EntriesRemoved,
    EntriesSet,
    Event,
    PeriodAmended,
    PeriodArchived,
    PeriodClosed,
    PeriodEvent,
    PeriodName,
    PeriodSettled,
    PlayerErased,
    PlayerRestricted,
    PlayerSet,
    SubmissionDecided,
    SubmissionPended,
    SubmissionRevoked,
    Unfriended,
)
from toprung.domain.idempotency import NOBODY, claims_of, key_digest, owner_of
from toprung.domain.ladder import Ladder, is_kept, scopes_of
from toprung.domain.layout import Layout, Move, Placed, entries_set, move_of
from toprung.domain.player import GLOBAL
from toprung.domain.quotas import EMBEDDED_QUOTAS, Refusals
from toprung.domain.timekeeping import Moment
from toprung.domain.trust.restriction import (
    Restriction,
    hidden_scope,
    is_hidden,
    plain_scope,
    restricted_attributes,
    restriction_in,
    restriction_on,
    shown_attributes,
    twinned,
)
from toprung.errors import UnknownBoard
from toprung.indexes.held import Held
from toprung.indexes.key_memory import KeptKey, KeyMemory
from toprung.indexes.memory import MemoryIndex, PlayerNumbers
from toprung.indexes.merging import Numbered
from toprung.indexes.newest import NewestSubmissions
from toprung.indexes.player_columns import PlayerColumns
from toprung.indexes.routes import RouteBook
from toprung.indexes.shared_plan import SharedPlan
from toprung.indexes.submit_plan import SubmitPlan
from toprung.ports import Fold, Plan, Recorded


class MemoryFold:
    """Boards, players, friends, keys and (in its index) every ladder."""

    def __init__(self, index: MemoryIndex, columns: PlayerColumns | None = None) -> None:
        self.index = index
        self.players = index.players
        self.boards = BoardTable()
        self.newest = NewestSubmissions(index.players)
        self.friends: dict[int, array[int]] = {}
        self.columns = PlayerColumns() if columns is None else columns
        self.routes = RouteBook()
        self.keys = KeyMemory()
        self.quotas = EMBEDDED_QUOTAS
        """What new commands are judged by; replay is not."""
        self.refusals = Refusals()
        self._players_recorded = index.players.limit
        """Numbers from here on belong to a batch that is on its way, or to nobody."""
        self.used: set[int] = set()
        """Generations of boards on which a score was ever recorded."""
        self.placed: set[int] = set()
        """Generations of boards on which entries were ever set without a submission."""
        self.held = Held()
        """Which ladders are here."""
        self._routers: dict[str, Router[Numbered]] = {}

    # --- deciding ------------------------------------------------------------------------------

    def plan(
        self, commands: Sequence[Command], after: int, moment: Moment, recorded: Recorded
    ) -> Plan:
        """Decide the commands, no two of which touch the same."""
        if all(isinstance(command, Submit) for command in commands):
            submits = [command for command in commands if isinstance(command, Submit)]
            return SubmitPlan(self, submits, after, moment, recorded)
        return SharedPlan(self, commands, after, moment, recorded)

    # --- looking things up ---------------------------------------------------------------------

    def board(self, board_id: str) -> Board:
        """The board, or UnknownBoard."""
        board = self.boards.get(board_id)
        if board is None:
            raise UnknownBoard(f"there is no board {board_id!r}")
        return board

    def number(self, player: str) -> int | None:
        """The number that events name the player by."""
        number = self.players.number(player)
        return None if number is None or number >= self._players_recorded else number

    def numbers(self, players: Sequence[str]) -> Sequence[int]:
        """`number` of each; that of a player who is not recorded is one that nobody has yet."""
        return memoryview(self.players.numbers(players)).cast("I")

    def known_numbers(self, players: Sequence[str]) -> list[int | None]:
        """`number` of each."""
        limit = self._players_recorded
        return [number if number < limit else None for number in self.numbers(players)]

    def id(self, number: int) -> str | None:
        """The id behind a number; None if the player was erased."""
        if number >= self._players_recorded:
            return None
        found = self.players.id(number)
        return None if found is None else found.decode()

    def note_players(self) -> None:
        """All players in the table are recorded: from now on readers find them."""
        self.columns.extend(self.players.limit)
        self._players_recorded = self.players.limit

    def attributes(self, number: int) -> Mapping[str, str]:
        """A player's attributes; a copy, for players share mappings."""
        return dict(self.columns.attributes(number))

    def restrictions(self, players: Sequence[str]) -> dict[str, Restriction]:
        """The restrictions of those of the players that have one."""
        if not self.columns.restricted:
            return {}
        found = {
            player: restriction_in(self.columns.attributes(number))
            for player, number in zip(players, self.known_numbers(players), strict=True)
            if number is not None and number in self.columns.restricted
        }
        return {player: each for player, each in found.items() if each is not None}

    def last_submission(self, number: int) -> int:
        """The position of the player's last submission on any board."""
        return self.columns.last[number]

    def newest_submission(self, board: Board, number: int) -> int:
        """The position of the player's last submission on a board; 0 is none."""
        return self.newest.find(board.generation, number)

    def boards_of(self, number: int) -> list[Board]:
        """The boards on which a player may have entries, in the order in which they were created.

        O(k log k), k boards of the player and those on which entries were set.
        """
        generations = {*self.newest.generations_of(number), *self.placed}
        found = map(self.boards.of_generation, sorted(generations))
        return [board for board in found if board is not None]

    def measure(self) -> tuple[int, int]:
        """How many entries there are on all ladders, and the bytes of what grows with players."""
        entries, size = self.index.measure()
        return entries, size + self.newest.nbytes

    def recall_keys(self, keys: Iterable[tuple[int, int, str]], yesterday: int) -> None:
        """Remember the (position, board generation, key) that a journal recorded lately.

        Those up to the position `yesterday` were used more than a day ago.
        """

        def used() -> Iterator[KeptKey]:
            for position, generation, recorded in keys:
                for claim in claims_of(recorded):
                    owner = owner_of(claim)
                    self.keys.has_unowned |= owner is None
                    digest = key_digest(generation, claim)
                    yield KeptKey(digest, position, generation, owner or NOBODY)

        self.keys.recall(used(), yesterday)

    def forget_keys(self, keys: Iterable[tuple[int, str]]) -> None:
        """Forget the keys that an erased player had used."""
        self.keys.forget(
            key_digest(generation, claim)
            for generation, recorded in keys
            for claim in claims_of(recorded)
        )

    def friends_of(self, player: str) -> PlayerNumbers:
        """A player's friends; nobody for a player who is not known."""
        number = self.players.number(player)
        numbers = array("I") if number is None else self.friend_numbers(number)
        return PlayerNumbers(self.players, array("I", numbers))

    def router(self, board: Board) -> Router[Numbered]:
        """The board's router, made anew when its rules changed."""
        router = self._routers.get(board.id)
        if router is None or router.board is not board:
            router = self._routers[board.id] = Router(board)
        return router

    def kept_scopes(
        self, board: Board, number: int
    ) -> Callable[[str, str], tuple[str, ...] | None]:
        """Tells which scopes a player's entry of a period counts in; None: there is no entry."""

        def kept(window: str, period: str) -> tuple[str, ...] | None:
            everyone = self._home(board, window, period, number)
            if everyone is None:
                return None
            hidden = is_hidden(everyone.scope)
            scopes = {
                scope: None
                for attributes in self.columns.past_attributes(number)
                for scope in twinned(scopes_of(board, shown_attributes(attributes)), hidden=hidden)
                if self.is_on(everyone._replace(scope=scope), number)
            }
            return tuple(scopes)

        return kept

    def _home(self, board: Board, window: str, period: str, number: int) -> Ladder | None:
        """Everybody's ladder, or its twin, whichever has the player's entry of a period."""
        everyone = Ladder(board.id, window, period, GLOBAL)
        if self.is_on(everyone, number):
            return everyone
        twin = everyone._replace(scope=hidden_scope(GLOBAL))
        return twin if self.is_on(twin, number) else None

    def periods_of(self, board: Board, number: int) -> list[PeriodName]:
        """The periods of a board in which a player has an entry."""
        periods = self.index.periods(board.id)
        return [name for name in periods if self._home(board, *name, number) is not None]

    def placed_of(self, board: Board, number: int) -> dict[PeriodName, Placed[bytes]]:
        """A player's entries on a board."""
        scopes_of_entry, found = self.kept_scopes(board, number), {}
        for window, period in self.index.periods(board.id):
            record = self._record(board, window, period, number)
            if record is not None:
                scopes = scopes_of_entry(window, period) or (GLOBAL,)
                found[window, period] = Placed(scopes, record)
        return found

    def _record(self, board: Board, window: str, period: str, number: int) -> bytes | None:
        """A player's entry of a period."""
        home = self._home(board, window, period, number)
        ranked = None if home is None else self.index.find(home)
        return None if ranked is None else ranked.find(number)

    def is_on(self, ladder: Ladder, number: int) -> bool:
        """Whether a player has an entry on a ladder."""
        ranked = self.index.find(ladder)
        return ranked is not None and number in ranked

    def friend_numbers(self, number: int) -> array[int]:
        """The numbers of a player's friends, in order."""
        return self.friends.get(number) or array("I")

    # --- recovery ------------------------------------------------------------------------------

    def skip_numbers(self, limit: int) -> None:
        """Use up the numbers of erased players: they are never given again."""
        while self.players.limit < limit:
            # No id is invalid UTF-8, so this can be nobody's.
            self.players.forget(self.players.intern(b"\xff" + os.urandom(16)))

    def become(self, other: MemoryFold) -> None:
        """Take over the state of a fold that was derived anew from the same journal."""
        self.index.become(other.index)
        self.players, self.columns = other.players, other.columns
        self.boards, self.friends, self.routes = other.boards, other.friends, other.routes
        self.used, self.placed, self.held = other.used, other.placed, other.held
        self.newest = other.newest
        self._players_recorded = other._players_recorded
        self._routers.clear()

    def is_known(self, number: int) -> bool:
        """Whether the number belongs to a player who was not erased."""
        return number < self.players.limit and self.players.id(number) is not None

    # --- folding events in: live and in replay ---------------------------------------------------

    def apply(self, event: Event, is_kept: Callable[[Ladder], bool] = lambda _: True) -> None:
        """Fold one event in; a replay leaves out ladders that are not kept any more."""
        position = event.position
        match event.body:
            case BoardSet() as change:
                self._apply_board(change, event)
            case BoardDeleted(board):
                self._apply_board_deleted(board)
            case PlayerSet() | PlayerRestricted() | PlayerErased():
                self._apply_to_player(event)
            case EntriesRemoved(board, player):
                self._leave(board, player, position)
            case EntriesSet() as change:
                self._apply_entries(change, position, is_kept)
            case PeriodClosed() | PeriodSettled() | PeriodArchived() | PeriodAmended() as change:
                self._apply_ending(change, position)
            case DocumentSet() | Acted():
                pass  # the file itself keeps documents and acts
            case SubmissionRevoked() | SubmissionPended() | SubmissionDecided():
                pass  # it keeps what was revoked, and what waits or was decided, too
            case Befriended(player, other) | Unfriended(player, other):
                change_friends = self._join if type(event.body) is Befriended else self._part
                change_friends(player, other)
                change_friends(other, player)
            case _:
                raise AssertionError(f"submissions are replayed in columns: {event!r}")
        self.note_players()

    def _apply_to_player(self, event: Event) -> None:
        change = event.body
        if isinstance(change, PlayerSet):
            self._apply_player(change, event)
        elif isinstance(change, PlayerRestricted):
            self._apply_restricted(change, event)
        elif isinstance(change, PlayerErased):
            self._apply_erased(change.player, event.position)

    def _apply_board(self, change: BoardSet, event: Event) -> None:
        old = self.boards.get(change.board)
        board = Board.read(change.board, change.rules)
        board = board.recorded(event.position, change.generation)
        self.boards[board.id] = board
        self.routes.forget(board.id, lambda _: False)  # new rules, new routes
        if old is None or change.retained is None:
            return
        layout = Layout(old, board, change, event.recorded_at)
        for ladder, _ in self.index.sets(board.id):
            if not layout.keeps_ladder(ladder):
                self.index.drop(ladder)
        if layout.added:
            self._backfill(layout, event.position)

    def _apply_ending(self, change: PeriodEvent, position: int) -> None:
        board = self.boards.get(change.board)
        if board is not None:
            self.boards[board.id] = change.ended(board, position)
            self.routes.forget(board.id, lambda _: False)

    def _backfill(self, layout: Layout, position: int) -> None:
        """Fill the ladders of new scopes from everybody's, by the attributes players have now."""
        board = layout.new
        for ladder, ranked in self.index.sets(board.id):
            is_everyones = plain_scope(ladder.scope) == GLOBAL
            if not is_everyones or not layout.fills((ladder.window, ladder.period)):
                continue
            hidden = is_hidden(ladder.scope)
            for number, _, record in ranked.slice(0, len(ranked))[4]:
                for scope in layout.new_scopes(self.columns.attributes(number), hidden=hidden):
                    target = ladder._replace(scope=scope)
                    self.index.open(target, board.shape).put(number, record)
                    self.index.touch(target, position)

    def _apply_board_deleted(self, board_id: str) -> None:
        board = self.boards.remove(board_id)
        if board is not None:
            self.used.discard(board.generation)
            self.placed.discard(board.generation)
            self.newest.drop(board.generation)
        self._routers.pop(board_id, None)
        self.routes.forget(board_id, lambda _: False)
        self.index.drop_board(board_id)

    def _apply_player(self, change: PlayerSet, event: Event) -> None:
        number, attributes = change.player, change.attributes
        if not self.is_known(number):  # erased later
            return
        self.columns.extend(self.players.limit)
        old = self.columns.attributes(number)
        self.columns.set_attributes(number, attributes, event.recorded_at)
        for board_id, periods in change.open.items():
            board = self.boards.get(board_id)
            if board is not None:
                move = move_of(board, old, attributes)
                self._move(board, number, periods, move, event.position)
        if self.columns.is_past_long(number):
            self.columns.shorten_past(number, self._has_entries_of(number))

    def _apply_restricted(self, change: PlayerRestricted, event: Event) -> None:
        """Move a player's entries to the twins of their scopes, or back."""
        number = change.player
        if not self.is_known(number):  # erased later
            return
        self.columns.extend(self.players.limit)
        attributes = restricted_attributes(self.columns.attributes(number), change.restriction)
        self.columns.set_attributes(number, attributes, event.recorded_at)
        for board_id, periods in change.moved.items():
            board = self.boards.get(board_id)
            if board is None:
                continue
            hidden = restriction_on(board_id, attributes) is not None
            scopes_of_entry = self.kept_scopes(board, number)
            for name in periods:
                before = scopes_of_entry(*name) or ()
                self._twin(board, number, name, (before, twinned(before, hidden=hidden)), event)

    def _twin(
        self,
        board: Board,
        number: int,
        period: PeriodName,
        scopes: tuple[tuple[str, ...], tuple[str, ...]],
        event: Event,
    ) -> None:
        """Take an entry off the ladders of some scopes and put it onto those of others."""
        before, after = scopes
        record = self._record(board, *period, number)
        if record is None or before == after:
            return
        for scope in after:  # first: nobody finds the player nowhere
            ladder = Ladder(board.id, *period, scope)
            self.index.open(ladder, board.shape).put(number, record)
            self.index.touch(ladder, event.position)
        for scope in before:
            ladder = Ladder(board.id, *period, scope)
            self.index.open(ladder, board.shape).remove(number)
            self._touch(ladder, event.position)

    def _has_entries_of(self, number: int) -> Callable[[Mapping[str, str]], bool]:
        """Tells whether a player has entries in the scopes of attributes that it had."""
        stops = [
            (board, everyone)
            for board in self.boards_of(number)
            if len(board.scopes) > 1
            for window, period in self.index.periods(board.id)
            if (everyone := self._home(board, window, period, number)) is not None
        ]

        def has(attributes: Mapping[str, str]) -> bool:
            plain = shown_attributes(attributes)
            return any(
                self.is_on(everyone._replace(scope=scope), number)
                for board, everyone in stops
                for scope in twinned(scopes_of(board, plain)[1:], hidden=is_hidden(everyone.scope))
            )

        return has

    def _move(
        self, board: Board, number: int, periods: Iterable[PeriodName], move: Move, position: int
    ) -> None:
        """Move a player's entries of some periods to the ladders of its new scopes."""
        for window, period in periods:
            record = self._record(board, window, period, number)
            if record is None:
                continue
            for scope in (*move.left, *move.entered):
                ladder = Ladder(board.id, window, period, scope)
                ranked = self.index.open(ladder, board.shape)
                ranked.put(number, record) if scope in move.entered else ranked.remove(number)
                self._touch(ladder, position)

    def _apply_erased(self, number: int, position: int) -> None:
        self.skip_numbers(number + 1)
        self.columns.extend(number + 1)
        for board in self.boards_of(number):
            self._leave(board.id, number, position)
        for other in self.friends.pop(number, ()):
            self._part(other, number)
        self.columns.erase(number)
        self.newest.forget(number)
        if self.players.id(number) is not None:  # in replay it is gone already
            self.players.forget(number, is_off_all_sets=True)

    def _apply_entries(
        self, change: EntriesSet, position: int, is_kept: Callable[[Ladder], bool]
    ) -> None:
        board, number = self.boards.get(change.board), change.player
        if board is None:
            return
        self.placed.add(board.generation)
        if not self.is_known(number):  # erased later
            return
        self.columns.extend(self.players.limit)
        wanted = {
            Ladder(board.id, window, period, scope): placed.entry
            for (window, period), placed in entries_set(board, change, position).items()
            if is_kept(Ladder(board.id, window, period, GLOBAL))
            for scope in placed.scopes
        }
        for ladder, ranked in self.index.sets(board.id):
            if ladder not in wanted and ranked.remove(number) is not None:
                self._touch(ladder, position)
        for ladder, record in wanted.items():
            ranked = self.index.open(ladder, board.shape)
            if ranked.find(number) != record:
                ranked.put(number, record)
                self.index.touch(ladder, position)

    def _leave(self, board_id: str, number: int, position: int) -> None:
        for ladder, ranked in self.index.sets(board_id):
            if ranked.remove(number) is not None:
                self._touch(ladder, position)

    def _touch(self, ladder: Ladder, position: int) -> None:
        """Note that a ladder was changed; nobody left means no ladder."""
        self.index.touch(ladder, position)
        if not self.index.find(ladder):
            self.index.drop(ladder)

    def _join(self, number: int, friend: int) -> None:
        friends = self.friends.setdefault(number, array("I"))
        if friend not in friends:
            insort(friends, friend)

    def _part(self, number: int, friend: int) -> None:
        friends = self.friend_numbers(number)
        if friend in friends:
            friends.remove(friend)
            if not friends:
                del self.friends[number]

    # --- letting go ------------------------------------------------------------------------------

    def prune(self, board: Board, moment: Moment) -> int:
        """Drop ladders that are empty or left retention more than a day ago, and their routes.

        Answers how many ladders there were.
        """
        known: dict[tuple[str, ...], bool] = {}
        self.held = self.held.without(moment.horizon)

        def is_of_use(ladder: Ladder) -> bool:
            found = known.get(ladder[1:3])
            if found is None:
                found = known[ladder[1:3]] = is_kept(board, ladder, moment.horizon)
            return found

        self.routes.forget(board.id, lambda routed: all(map(is_of_use, routed.ladders)))
        obsolete = [
            ladder
            for ladder, ranked in self.index.sets(board.id)
            if not ranked or not is_of_use(ladder)
        ]
        for ladder in obsolete:
            self.index.drop(ladder)
        return len(obsolete)

    def tidy(self, moment: Moment) -> None:
        """Forget attributes of the past that no late submission can ask for any more."""
        if self.columns.is_untidy(len(self.boards)):
            calendars = {  # boards of the same windows and zone share them
                board.calendar(window)
                for board in self.boards.values()
                if len(board.scopes) > 1
                for window in board.windows
            }
            opens = (
                period.opens_at
                for calendar in calendars
                for period in calendar.retained(moment.horizon)
                if period.closes_at is not None
            )
            self.columns.tidy(min([moment.confirmed, *(each or 0 for each in opens)]))


_: type[Fold] = MemoryFold
