"""What a webhook has to be told: a follower of the journal for each.

It reads which ladders may have changed, compares who leads them now with what the webhook was told
last, and writes a message for each difference, in the commit that moves it on. What changes several
times in between is told once. A receiver that is away holds up its own follower and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from toprung.domain.board import Board
from toprung.domain.effects import Effect
from toprung.domain.events import (
    BoardDeleted,
    BoardSet,
    EntriesRemoved,
    EntriesSet,
    Event,
    EventBody,
    PeriodAmended,
    PeriodClosed,
    PeriodSettled,
    PlayerErased,
    PlayerRestricted,
    PlayerSet,
    Scored,
    SubmissionDecided,
    SubmissionPended,
)
from toprung.domain.instant import instant_text
from toprung.domain.ladder import Ladder, scopes_of
from toprung.domain.timekeeping import Moment
from toprung.domain.webhooks import (
    BOARD_CHANGED,
    LEADER_CHANGED,
    PERIOD_AMENDED,
    PERIOD_CLOSED,
    PERIOD_SETTLED,
    SUBMISSION_DECIDED,
    SUBMISSION_PENDING,
    WAITING_MAX,
    EventType,
    Webhook,
)
from toprung.errors import UnknownBoard
from toprung.ports import (
    DerivedRow,
    EffectStore,
    FollowerState,
    FollowerStore,
    Index,
    Journal,
    Selection,
    Step,
    Stretch,
)
from toprung.service.background.following import MustWait
from toprung.service.webhooks.book import WebhookBook
from toprung.service.webhooks.leaders import Comparison, Leaders, is_there, ladder_of
from toprung.service.webhooks.messages import plain_message
from toprung.service.webhooks.walk import Strides, Walk
from toprung.waiting.pace import next_round

PREFIX: Final = "webhook:"
LADDERS_MAX: Final = 1_000
"""Ladders that one step looks at; an event that concerns more has them all."""

MESSAGES_MAX: Final = 1_000
"""Messages about boards that one step writes."""

BOARDS_AT_ONCE: Final = 100
COMPARED_AT_ONCE: Final = 100
"""Ladders that are compared before others have their turn: a few milliseconds."""

EVENTS_AT_ONCE: Final = 200
"""Events that are looked at before others have their turn."""

SWEPT_MAX: Final = 10_000
"""Windows of which it is remembered that their old rows are gone."""

_KINDS: Final[dict[EventType, tuple[type[EventBody], ...]]] = {
    LEADER_CHANGED: (
        *(Scored, BoardSet, BoardDeleted, PlayerSet, PlayerRestricted, PlayerErased),
        *(EntriesRemoved, EntriesSet),
    ),
    BOARD_CHANGED: (BoardSet, BoardDeleted),
    PERIOD_CLOSED: (PeriodClosed,),
    PERIOD_SETTLED: (PeriodSettled,),
    PERIOD_AMENDED: (PeriodAmended,),
    SUBMISSION_PENDING: (SubmissionPended,),
    SUBMISSION_DECIDED: (SubmissionDecided,),
}
"""By what a webhook is told of: the events that it follows from."""


class _Note(msgspec.Struct, frozen=True, array_like=True):
    """What a webhook's follower keeps with its position."""

    walk: Walk | None
    """The walk that it is in the middle of, if any."""

    told_at: int = 0
    """What it tells of leaders next has a later timestamp, whatever clocks do."""


_BEGIN: Final = _Note(Walk("", 0))
_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(_Note).decode


class Sources:
    """What all followers of webhooks read from."""

    def __init__(
        self,
        journal: Journal,
        index: Index,
        rows: FollowerStore,
        effects: EffectStore,
        moment: Callable[[], Moment],
    ) -> None:
        self.journal = journal
        self.rows = rows
        self.effects = effects
        self.moment = moment
        self.leaders = Leaders(journal, index, rows)
        self.strides = Strides(index, rows)

    async def board(self, board_id: str) -> Board | None:
        """A board as it is now."""
        try:
            return await self.journal.board(board_id)
        except UnknownBoard:
            return None


class WebhookFollowers:
    """The followers of all webhooks."""

    prefix = PREFIX

    def __init__(self, book: WebhookBook, sources: Sources) -> None:
        self._book = book
        self._sources = sources
        self._known: dict[str, WebhookFollower] = {}

    async def followers(self, *, anew: bool = False) -> Sequence[WebhookFollower]:
        """Those of the webhooks that are told of what the journal records."""
        found: dict[str, WebhookFollower] = {}
        for webhook in await self._book.all(anew=anew):
            if not has_follower(webhook):
                continue
            name = follower_name(webhook)
            follower = self._known.get(name)
            if follower is None:
                follower = WebhookFollower(webhook, self._sources)
            follower.webhook = webhook
            found[name] = follower
        self._known = found
        return list(found.values())


def has_follower(webhook: Webhook) -> bool:
    """Whether it is told of what the journal records; erasures are announced instead.

    One that is disabled is told nothing, and begins at the end when it is put again.
    """
    if webhook.disabled is not None:
        return False
    return any(map(webhook.wants, _KINDS))


def follower_name(webhook: Webhook) -> str:
    """What a webhook's follower is called.

    One that begins elsewhere, or wants to know something else, has another follower; what the old
    one knew goes with it.
    """
    wanted = msgspec.json.encode((webhook.since, webhook.events, webhook.boards))
    return f"{PREFIX}{webhook.id}#{hashlib.sha256(wanted).hexdigest()[:8]}"


class WebhookFollower:
    """Finds out what one webhook has to be told."""

    def __init__(self, webhook: Webhook, sources: Sources) -> None:
        self.webhook = webhook
        self.name = follower_name(webhook)
        # One less than where it begins: while it takes its first look at all ladders, there is
        # always something to read, even if nothing is recorded meanwhile.
        self.start = max(0, webhook.since - 1)
        self._sources = sources
        self._waiting_max: int | None = None
        """Messages that wait, at most; None: they have to be counted."""
        self._is_full = False
        self._swept: dict[tuple[str, str], str] = {}
        """By board and window: the period before which there are no rows."""

    @property
    def selection(self) -> Selection:
        """What may change a board, or who leads on one; nothing while it is held."""
        if self._is_full:
            return Selection(())
        is_leader = self.webhook.wants(LEADER_CHANGED)
        wanted = (kinds for event, kinds in _KINDS.items() if self.webhook.wants(event))
        kinds = tuple(dict.fromkeys(chain.from_iterable(wanted)))
        return Selection(kinds, newest=1, per="route", is_visible=is_leader)

    async def derive(self, stretch: Stretch, state: FollowerState) -> Step | MustWait:
        """The messages about a stretch."""
        was_full = self._is_full
        if await self._is_crowded() or was_full:  # then it has seen nothing of the stretch
            return MustWait(f"its queue is full: {WAITING_MAX} messages wait")
        note = _unpack(state.note) if state.note else _BEGIN
        if note.walk is not None and self.webhook.wants(LEADER_CHANGED):
            step = await self._walk_on(note.walk, note.told_at, state)
        else:
            step = await _Reading(self, self._sources, note.told_at).step(stretch)
        if self._waiting_max is not None:
            self._waiting_max += len(step.effects)
        return step

    async def _is_crowded(self) -> bool:
        """Whether as many messages wait as may; counted only when that is possible."""
        if self._waiting_max is None or self._waiting_max >= WAITING_MAX:
            self._waiting_max = await self._sources.effects.waiting(self.webhook.id)
        self._is_full = self._waiting_max >= WAITING_MAX
        return self._is_full

    # --- walks ------------------------------------------------------------------------------------

    async def _walk_on(self, walk: Walk, told_at: int, state: FollowerState) -> Step:
        """Look at some more ladders of a walk."""
        board = await self._walked_board(walk)
        if board is None:
            note = _pack(_Note(None, told_at))
            return Step(position=max(state.position, walk.cause), note=note)
        if walk.board != board.id:
            walk = Walk(board.id, walk.cause)
        moment = self._sources.moment()
        gone: Sequence[DerivedRow] = ()
        after: Walk | None
        if walk.before is None:
            ladders, after = await self._sources.strides.ladders(walk, board, moment)
            if after is None and walk.tells:
                after = Walk(board.id, walk.cause, before=b"")
        else:
            ladders, gone, after = await self._sources.strides.rows(self.name, walk, board, moment)
        compared = await self._sources.leaders.compare(self.name, board, ladders)
        cause = f"walk {walk.cause}"
        effects: list[Effect] = []
        if walk.tells:
            told_at = max(moment.recorded_at, told_at + 1)
            effects = self.messages(compared, cause, told_at)
        position = state.position
        if after is None:
            if walk.tells:
                position = max(position, walk.cause)
            else:  # on to the board after this one
                after = Walk(f"{board.id}\0", 0)
        return Step(
            position=position,
            rows=[*gone, *rows_of(compared)],
            effects=effects,
            note=_pack(_Note(after, told_at)),
        )

    async def _walked_board(self, walk: Walk) -> Board | None:
        """The board of a walk, or at the first look the next one that the webhook is for."""
        after = walk.board
        if walk.tells or (after and not after.endswith("\0")):
            board = await self._sources.board(after)
            if board is not None or walk.tells:
                return board
        after = after.rstrip("\0")
        while boards := await self._sources.journal.boards(after, BOARDS_AT_ONCE):
            for board in boards:
                if self.webhook.is_for(board.id):
                    return board
            after = boards[-1].id
        return None

    # --- what comes of comparisons ----------------------------------------------------------------

    def messages(self, compared: Iterable[Comparison], cause: str, at: int) -> list[Effect]:
        """What the webhook is told of ladders."""
        return [each.message(self.webhook, cause, at) for each in compared if each.is_news]

    async def sweep(self, board: Board, window_name: str, horizon: int) -> list[DerivedRow]:
        """Rows of periods that were not retained at the horizon, when a window has a new one."""
        window = board.window(window_name)
        oldest = board.calendar(window).retained(horizon)[-1]
        key = (board.id, window_name)
        if oldest.opens_at is None or self._swept.get(key) == oldest.id:
            return []
        first = f"{window_name}\0".encode()
        rows = await self._sources.rows.rows(self.name, board.id, first + oldest.id.encode())
        old = [each for each, _ in rows if each.startswith(first)]
        if len(old) < len(rows) or not rows:
            if len(self._swept) >= SWEPT_MAX:
                self._swept.clear()
            self._swept[key] = oldest.id
        return [
            DerivedRow(board.id, each, None)
            for each in old
            if not is_there(board, ladder_of(board.id, each), horizon)
        ]


def rows_of(compared: Iterable[Comparison]) -> list[DerivedRow]:
    """What is known of ladders from now on, where that changes."""
    return [row for each in compared if (row := each.row()) is not None]


class _Reading:
    """One stretch on its way to become a step."""

    def __init__(self, follower: WebhookFollower, sources: Sources, told_at: int) -> None:
        self._follower = follower
        self._webhook = follower.webhook
        self._sources = sources
        self._boards: dict[str, Board | None] = {}
        self._touched: dict[str, dict[Ladder, None]] = {}
        self._count = 0
        self._dropped: list[str] = []
        self._effects: list[Effect] = []
        self._walk: Walk | None = None
        self._at = told_at + 1

    async def step(self, stretch: Stretch) -> Step:
        """What comes of it; a part of it if that is much already."""
        until = stretch.until
        wants_leaders = self._webhook.wants(LEADER_CHANGED)
        for number, event in enumerate(stretch.events, 1):
            if number % EVENTS_AT_ONCE == 0:
                await next_round()
            if event.position <= self._webhook.since:
                continue
            if self._count >= LADDERS_MAX or len(self._effects) >= MESSAGES_MAX:
                until = event.position - 1
                break
            self._at = max(self._at, event.recorded_at)
            if wants_leaders:
                await self._touch(event)
                if self._walk is not None and self._count:  # first what came before it
                    self._walk, until = None, event.position - 1
                    break
            self._tell(event)
            if self._walk is not None:
                until = event.position - 1
                break
        rows = await self._compare(until)
        return Step(
            position=max(until, stretch.after),
            rows=rows,
            dropped=self._dropped,
            effects=self._effects,
            note=_pack(_Note(self._walk, self._at)),
        )

    # --- events -----------------------------------------------------------------------------------

    async def _touch(self, event: Event) -> None:
        """Note the ladders whose leader an event may have changed."""
        match event.body:
            case Scored() as body:
                if await self._board(body.board) is not None:
                    self._add(body.board, body.route.ladders(body.board))
            case BoardSet() as body:
                if body.retained is not None and await self._board(body.board) is not None:
                    self._walk = Walk(body.board, event.position)
            case BoardDeleted() as body:
                await self._touch_deleted(body.board)
            case EntriesSet() as body:
                await self._touch_set(body)
            case EntriesRemoved() as body:
                await self._add_led(body.player, body.board)
            case PlayerErased() as body:
                await self._add_led(body.player)
            case PlayerSet() | PlayerRestricted() as body:
                await self._touch_moved(body)

    async def _touch_deleted(self, board_id: str) -> None:
        self._count -= len(self._touched.pop(board_id, ()))
        if self._webhook.is_for(board_id) and await self._now(board_id) is None:
            self._dropped.append(board_id)

    async def _touch_set(self, body: EntriesSet) -> None:
        if await self._board(body.board) is None:
            return
        for entry in body.entries:
            places = (Ladder(body.board, entry.window, entry.period, s) for s in entry.scopes)
            self._add(body.board, places)
        await self._add_led(body.player, body.board)

    async def _touch_moved(self, body: PlayerSet | PlayerRestricted) -> None:
        """A player has left some scopes, where it may have led, and come into others."""
        if isinstance(body, PlayerRestricted):
            await self._touch_shown(body)
            await self._add_led(body.player)
            return
        for board_id, periods in body.open.items():
            board = await self._board(board_id)
            if board is not None:
                for scope in scopes_of(board, body.attributes):
                    self._add(board_id, (Ladder(board_id, *each, scope) for each in periods))
        await self._add_led(body.player)

    async def _touch_shown(self, body: PlayerRestricted) -> None:
        """The ladders on which a player's entries are again, as far as they are hidden no more."""
        journal = self._sources.journal
        player = (await journal.ids([body.player])).get(body.player)
        for board_id, periods in body.moved.items():
            board = await self._board(board_id)
            if board is None or player is None:
                continue
            entries = await journal.entries_of(board, player)
            for name in periods:
                scopes = entries[name].scopes if name in entries else ()
                self._add(board_id, (Ladder(board_id, *name, scope) for scope in scopes))

    def _add(self, board_id: str, ladders: Iterable[Ladder]) -> None:
        touched = self._touched.setdefault(board_id, {})
        before = len(touched)
        touched.update(dict.fromkeys(ladders))
        self._count += len(touched) - before

    async def _add_led(self, player: int, board_id: str | None = None) -> None:
        """Note the ladders that the player leads as far as the webhook knows."""
        for board, key in await self._sources.rows.rows_of_player(self._follower.name, player):
            if board_id in (None, board) and await self._board(board) is not None:
                self._add(board, [ladder_of(board, key)])

    def _tell(self, event: Event) -> None:
        """Say what an event itself says, if the webhook wants to know."""
        told = _told(event)
        if told is None:
            return
        kind, data = told
        if self._webhook.wants(kind) and self._webhook.is_for(data["board"]):
            message = plain_message(
                self._webhook, str(event.position), kind, event.recorded_at, data
            )
            self._effects.append(message)

    # --- boards -----------------------------------------------------------------------------------

    async def _now(self, board_id: str) -> Board | None:
        if board_id not in self._boards:
            self._boards[board_id] = await self._sources.board(board_id)
        return self._boards[board_id]

    async def _board(self, board_id: str) -> Board | None:
        """A board as it is now, if there is one and the webhook is for it."""
        return await self._now(board_id) if self._webhook.is_for(board_id) else None

    # --- what has changed -------------------------------------------------------------------------

    async def _compare(self, until: int) -> list[DerivedRow]:
        """Compare the ladders that were touched; what is to be known of them from now on."""
        rows: list[DerivedRow] = []
        moment = self._sources.moment()
        for board_id, touched in self._touched.items():
            board = self._boards[board_id]
            assert board is not None, "only ladders of boards that are there were noted"
            every, windows = list(touched), set[str]()
            for begin in range(0, len(every), COMPARED_AT_ONCE):
                some = every[begin : begin + COMPARED_AT_ONCE]
                ladders = [ladder for ladder in some if is_there(board, ladder, moment.cautious)]
                compared = await self._sources.leaders.compare(self._follower.name, board, ladders)
                self._effects += self._follower.messages(compared, f"until {until}", self._at)
                rows += rows_of(compared)
                windows.update(ladder.window for ladder in ladders)
                await next_round()
            for window in windows:
                rows += await self._follower.sweep(board, window, moment.horizon)
        return rows


_AMENDED: Final = ("board", "window", "period", "players", "entries", "digest", "reason")
"""What is told of an amendment: not who, whom nobody knows by number."""


_PENDED: Final = ("board", "submission", "reasons")
_DECIDED: Final = ("board", "submission", "verdict", "reason", "changed")
"""What is told of submissions that wait or waited; whose they are is for the service to tell."""


def _told(event: Event) -> tuple[EventType, dict[str, Any]] | None:
    """What of an event is told as it is: the type, and the data of its message."""
    match event.body:
        case BoardDeleted(board):
            return BOARD_CHANGED, {"board": board, "change": "deleted", "version": event.position}
        case BoardSet(board) as body:
            change = "created" if body.generation == event.position else "changed"
            return BOARD_CHANGED, {"board": board, "change": change, "version": event.position}
        case PeriodClosed() | PeriodSettled() as body:
            data = msgspec.structs.asdict(body)
            data["ended_at"] = instant_text(body.ended_at)
            return PERIOD_CLOSED if type(body) is PeriodClosed else PERIOD_SETTLED, data
        case PeriodAmended() as body:
            data = {name: getattr(body, name) for name in _AMENDED}
            return PERIOD_AMENDED, {**data, "ended_at": instant_text(body.ended_at)}
        case SubmissionPended() | SubmissionDecided() as body:
            is_decided = type(body) is SubmissionDecided
            data = {name: getattr(body, name) for name in (_DECIDED if is_decided else _PENDED)}
            if isinstance(body, SubmissionDecided):
                data["by"] = body.decider
            return SUBMISSION_DECIDED if is_decided else SUBMISSION_PENDING, data
    return None
