"""Ports: what the services need from the world, as few primitives with stated guarantees.

The journal is the durable truth; the index is its disposable order. Both profiles implement
these Protocols, and `toprung.testing` holds the suites that an implementation must pass.
Embedded implementations never suspend in reads.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, Protocol, TypeAlias

import msgspec

from toprung.domain.access import AccessKey
from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.domain.command import Command, Receipts, Status
from toprung.domain.figures import Figures
from toprung.domain.ladder import Ladder, Route, Stop
from toprung.domain.ranking import Counts


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        ...


class PlayerProfile(msgspec.Struct, frozen=True):
    """What is known of a player besides results; erasable."""

    player: str
    name: str | None = None
    avatar_url: str | None = None
    attributes: Mapping[str, str] = {}


Shown: TypeAlias = tuple[str | None, str | None]
"""What lists show of a player besides its id: `name` and `avatar_url`."""

NAMELESS: Shown = (None, None)


class RecordedSubmission(msgspec.Struct, frozen=True):
    """A submission as it stands in the journal."""

    position: int
    board: str
    player: str
    score: int
    subscore: int | None
    at: int
    recorded_at: int
    status: Status
    details: bytes | None


class Event(msgspec.Struct, frozen=True):
    """One fact of the journal, with everything that decided it."""

    position: int
    recorded_at: int
    kind: str
    """``score``, ``board``, ``board-deleted``, ``player``, ``erased``, ``removed``, ..."""
    body: Mapping[str, Any]


class Journal(Protocol):
    """The durable, ordered truth.

    Guarantees: a command is recorded whole or not at all; when `record` returns it is durable
    and visible to every later read of this process; commands of one process about one player
    are recorded in the order in which they were handed over; positions grow, and a reader that
    follows them never misses one that appears later with a smaller position.
    """

    async def record(self, command: Command) -> Receipts | Board | None:
        """Record a command: `Receipts` for a `Submit`, the `Board` for a `SetBoard`, else None.

        Raises the command's own error when it is refused as a whole, Overloaded when too much
        is waiting, and StorageFailed when nothing could be written.
        """
        ...

    def read(self, after: int = 0, limit: int = 1000) -> AsyncIterator[Event]:
        """The events after a position, in order, at most `limit`."""
        ...

    async def head(self) -> int:
        """The position of the last event; 0 when there is none."""
        ...

    async def board(self, board_id: str) -> Board:
        """The board as now recorded; UnknownBoard when there is none."""
        ...

    async def boards(self, after: str = "", limit: int = 100) -> list[Board]:
        """Boards in the order of their ids."""
        ...

    async def profiles(self, players: Sequence[str]) -> dict[str, PlayerProfile]:
        """The profiles of those players that are known, in one batch."""
        ...

    async def names(self, players: Sequence[str]) -> dict[str, Shown]:
        """What lists show of those players that have a name or an avatar, in one batch."""
        ...

    async def friends(self, player: str) -> Sequence[str]:
        """A player's friends, in any order; empty for an unknown player."""
        ...

    async def details(self, versions: Sequence[int]) -> dict[int, bytes]:
        """The details submitted at these positions, where there were any, in one query."""
        ...

    async def submissions(
        self, board_id: str, player: str, before: int | None, limit: int
    ) -> list[RecordedSubmission]:
        """A player's submissions on the board as it now exists, newest first."""
        ...

    async def close(self) -> None:
        """Record what was accepted, then let go of everything. Closing twice is harmless."""
        ...


class Place(Counts, frozen=True, gc=False):
    """Where a player stands on a ladder: what lies before its entry, of how many, and the entry."""

    total: int
    record: bytes


class Slice(NamedTuple):
    """Consecutive entries of one ladder, and what lies before the first of them."""

    first: Counts
    total: int
    players: list[str]
    records: list[bytes]
    """Those of the players' entries."""

    def mark(self) -> bytes:
        r"""Equal for equal entries of ladders of equal size: ids have no NUL.

        >>> Slice(Counts(0, 0, 0), 3, ["ann", "bob"], [b"\1", b"\2"]).mark()
        b'3 2 \x01\x02ann\x00bob'
        """
        head = f"{self.total} {len(self.records)} ".encode()
        return head + b"".join(self.records) + "\0".join(self.players).encode()


class Index(Protocol):
    """The disposable order of every ladder.

    Guarantees: every call sees one consistent state of its ladder, in which each submission
    counts on all of its ladders or on none; a ladder nobody is on is an empty one; a ladder
    that is not complete raises NotReady and never answers wrongly.
    """

    async def place(self, ladder: Ladder, player: str) -> Place | None:
        """Where the player stands; None when it has no entry. O(log n)."""
        ...

    async def places(self, ladder: Ladder, players: Sequence[str]) -> list[Place | None]:
        """`place` of many players, at one moment."""
        ...

    async def among(
        self, ladder: Ladder, player: str, others: Sequence[str], limit: int | None
    ) -> tuple[int, list[tuple[str, Place]]]:
        """How many of the player and the others have an entry, and the best of these, in order.

        At most `limit` of them; None means all.
        """
        ...

    async def slice(self, ladder: Ladder, start: int, stop: int) -> Slice:
        """The entries at offsets [start, stop), as far as there are any."""
        ...

    async def mark(self, ladder: Ladder, stop: int) -> bytes | None:
        """The `mark` of the slice [0, stop); None where that takes as long as reading it."""
        ...

    async def slice_around(
        self, ladder: Ladder, player: str, above: int, below: int
    ) -> Slice | None:
        """The player with neighbours; shifted at the ends so that it stays full."""
        ...

    async def slice_at(
        self, ladder: Ladder, key: bytes, player: str, above: int, below: int, *, full: bool
    ) -> Slice:
        """`above` entries before the point (key, player) and `below` from it on.

        The point need not be an entry; a short key is a prefix; "" sorts before all players.
        """
        ...

    async def count_before(self, ladder: Ladder, keys: Sequence[bytes]) -> list[int]:
        """For each key or prefix, how many entries lie before it, at one moment."""
        ...

    async def size(self, ladder: Ladder) -> int:
        """How many entries the ladder has."""
        ...

    async def ladders(self, board_id: str) -> list[tuple[Ladder, int]]:
        """The board's ladders that have entries, with their sizes."""
        ...

    async def version(self, ladder: Ladder) -> int:
        """The position of the last event that changed the ladder.

        0 if none did; it may be 0 again, too, when nobody is on the ladder any more.
        """
        ...


class Feed(Protocol):
    """News of changes, for whoever watches. Versions of ladders tell what changed."""

    async def changed(self, since: int) -> int:
        """A journal position that is visible in the index, as soon as there is one beyond `since`.

        It may come late, in bunches, or for nothing; it never fails to come.
        """
        ...


class KeyStore(Protocol):
    """Where access keys are kept. What is added or removed is durable when the call returns."""

    async def add(self, key: AccessKey) -> None:
        """Keep a new key."""
        ...

    async def all(self) -> list[AccessKey]:
        """Every key."""
        ...

    async def remove(self, key_id: str) -> bool:
        """Forget a key; whether there was one."""
        ...

    async def note_uses(self, used: Mapping[str, int]) -> None:
        """Record when keys were last used: id -> microseconds. Unknown ids are ignored."""
        ...


class RecordedKey(NamedTuple):
    """What a journal remembers of a submission that carried a key."""

    digest: bytes
    status: Status
    outcomes: bytes
    """`WindowOutcome`s and the skipped windows, as JSON."""


class Maintenance(Protocol):
    """What an operator asks of a profile."""

    reads_suspend: bool
    """Whether reads wait for servers; where they do not, they need no event loop."""

    async def figures(self) -> Figures:
        """How the profile fares at the moment."""
        ...

    async def verify(self) -> list[str]:
        """Compare the index with the journal; one line per difference, none when all is well."""
        ...

    async def rebuild(self) -> None:
        """Drop the index and derive it again from the journal."""
        ...

    async def backup(self, path: str) -> None:
        """Write a consistent copy of the truth to a new file while work goes on."""
        ...

    def announce(self, url: str) -> None:
        """Tell whoever finds the database in use where it is served, if only one may use it."""
        ...

    async def close(self) -> None:
        """Finish what was accepted and let go of everything. Closing twice is harmless."""
        ...


class Plan(Protocol):
    """A batch that has been decided but is not yet durable nor visible."""

    head: int
    """The position of its last event."""
    players: list[tuple[int, str]]
    """(number, id) of players seen for the first time."""
    routes: list[tuple[int, str, int, int, str, Route]]
    """(number, board, generation, version, source, route) of routes used for the first time."""
    submissions: list[Any]
    """`SUBMISSION_COLUMNS` values per recorded submission, flat."""
    details: list[tuple[int, bytes]]
    """(position, details)."""
    events: list[Event]
    """What is recorded besides submissions."""
    profiles: list[tuple[int, str | None, str | None]]
    """(number, name, avatar_url) to be replaced."""
    erased: list[int]
    """Numbers of players to be forgotten."""

    repeats: list[int]
    """Positions of submissions that keys in the batch were used for before."""

    def settle(self, recorded: Mapping[int, RecordedKey]) -> None:
        """Hand over what the journal holds at `repeats`; before `apply`."""
        ...

    def apply(self) -> list[Receipts | Board | Exception | None]:
        """Make the batch visible; the result of each command."""
        ...

    def discard(self) -> None:
        """Drop it, leaving no trace."""
        ...


SUBMISSION_COLUMNS = (
    "position", "route", "player", "previous", "recorded_at", "at", "score", "subscore",
    "status", "key", "digest", "outcome",
)  # fmt: skip


class Fold(Protocol):
    """In-memory state behind a journal that stores events only and decides against memory."""

    boards: dict[str, Board]

    def plan(self, commands: Sequence[Command], head: int, now: int, recorded_at: int) -> Plan:
        """Decide commands against the present state, later ones seeing earlier ones.

        They are any number of `Submit`s, or one command of another kind. Periods are those of
        `now`; `recorded_at` is what events say, which never goes back even if a clock does.
        """
        ...

    def board(self, board_id: str) -> Board:
        """The board, or UnknownBoard."""
        ...

    def friends_of(self, player: str) -> Sequence[str]:
        """A player's friends; nobody for a player who is not known."""
        ...

    def number(self, player: str) -> int | None:
        """The number that events name the player by."""
        ...

    def attributes(self, number: int) -> Mapping[str, str]:
        """A player's attributes."""
        ...

    def last_submission(self, number: int) -> int:
        """The position of the player's last submission on any board; 0 if there is none."""
        ...

    def forget_keys(self, keys: Iterable[tuple[int, str]]) -> None:
        """Forget (board generation, key) pairs: who used them was erased."""
        ...


# --- between a journal and an index that are reached over a network ------------------------------


class CardChanges(NamedTuple):
    """Cards of one board that a committed batch changed; `mark` names the batch."""

    mark: int
    board: Board
    cards: Sequence[Card]


class Names(Protocol):
    """What the numbers in cards stand for."""

    async def all_names(self, generation: int) -> tuple[dict[int, str], dict[int, str]]:
        """Every period name and every scopes name of a board, by number."""
        ...


class CardSink(Protocol):
    """Where a journal hands over what it has committed.

    But for `close_board` nothing raises Unavailable: what cannot be done now is done later.
    """

    async def before(self, wanted: Sequence[tuple[Ladder, str]]) -> list[Counts | None]:
        """What lies before each player on its ladder at the moment, where that can be told."""
        ...

    async def apply(self, changes: Sequence[CardChanges]) -> list[int]:
        """Apply changes; the marks of those that were."""
        ...

    async def close_board(self, board: Board) -> None:
        """Let nobody read the board until it is rebuilt; Unavailable if that is impossible."""
        ...

    async def rebuild_board(self, board: Board) -> None:
        """The board is new, or its ladders are others: derive them from its cards."""
        ...

    async def drop_board(self, board: Board) -> None:
        """The board was deleted."""
        ...


class OutboxRow(NamedTuple):
    """What the index may not know yet: cards whose current state is to be applied."""

    mark: int
    generation: int
    version: int
    players: Sequence[int]
    erased: Sequence[str]


class Outbox(Protocol):
    """The journal's side of catching up."""

    async def all_boards(self) -> list[Board]:
        """Every board."""
        ...

    async def unmarked(self, limit: int, work: OutboxWork) -> int:
        """Hand rows nobody marked to `work`, hidden from other processes; mark what it applied."""
        ...

    async def kept(self, generation: int, after: int, limit: int) -> list[OutboxRow]:
        """The rows of a board that are still kept, marked or not, by mark."""
        ...

    async def cards_of(self, row: OutboxRow) -> list[Card]:
        """The current cards of the players in a row."""
        ...

    async def cards_page(self, generation: int, after: int, limit: int) -> list[tuple[int, Card]]:
        """(player number, card) of a board in the order of numbers."""
        ...

    async def cards_by_id(self, generation: int, players: Sequence[str]) -> list[Card]:
        """The cards of these players, in their order; empty ones for who has none."""
        ...

    async def sample_cards(self, generation: int, limit: int) -> list[Card]:
        """Some cards of a board, picked at random."""
        ...

    async def position(self) -> int:
        """A position that nothing recorded so far lies beyond."""
        ...

    async def shard(self, generation: int) -> tuple[int, str]:
        """The mark that the index is known to have reached, and the server that told; (0, "")."""
        ...

    async def note_shard(self, generation: int, mark: int, server: str) -> None:
        """Remember that the index, on this server, has reached the mark."""
        ...

    def alone(self, generation: int) -> AbstractAsyncContextManager[bool]:
        """Whether this process alone now rebuilds the board's shard."""
        ...

    def histories(self) -> AbstractAsyncContextManager[Histories]:
        """A snapshot of the truth."""
        ...

    async def erased(self) -> list[tuple[int, Sequence[str]]]:
        """(generation, players) of erasures that are about to be pruned."""
        ...

    async def housekeep(self) -> None:
        """Prune what is kept for a while only, bury deleted boards, prepare partitions."""
        ...


class OutboxWork(Protocol):
    """What to do with rows of the outbox; answers the marks of those that were applied."""

    async def __call__(self, rows: Sequence[OutboxRow]) -> Sequence[int]:
        """Apply the rows."""
        ...


class RulesSet(NamedTuple):
    """A version of a board's rules, and when it was recorded."""

    board: Board
    recorded_at: int


class HistoryRow(NamedTuple):
    """One thing that the truth says of a player; which fields matter depends on `kind`."""

    player: int
    """The player's number."""
    position: int
    kind: str
    """``known`` (body: the id), ``score``, ``player``, ``removed``, or ``card``."""
    generation: int | None
    at: int | None
    score: int | None
    subscore: int | None
    version: int
    """The version of the rules that decided a score."""
    stops: tuple[Stop, ...]
    """Where a score counts."""
    body: str | None
    entries: bytes | None
    """A card's."""


class Histories(Protocol):
    """The truth at one moment, player by player."""

    async def rules(self) -> list[RulesSet]:
        """Every version of the rules of every board that exists, in the order of positions."""
        ...

    async def names(
        self, generation: int
    ) -> tuple[dict[bytes, tuple[str, str]], dict[bytes, tuple[str, ...]]]:
        """What the numbers in the cards of a board stand for: (window, period), and scopes."""
        ...

    def rows(self) -> AsyncIterator[list[HistoryRow]]:
        """All rows, a bounded number at a time: by player, `known` first and cards last."""
        ...


class ShardState(NamedTuple):
    """What the index says of one board shard."""

    ready: bool
    mark: int
    server: str
    """Who says so: another server may know less."""


class Shards(Protocol):
    """The index's side of catching up. Everything raises Unavailable when it is not reachable."""

    async def state(self, board: Board) -> ShardState:
        """Whether the shard is complete, and how far it is."""
        ...

    async def begin_rebuild(self, board: Board) -> bytes:
        """Empty the shard and accept cards, but no reads; a token for `finish_rebuild`."""
        ...

    async def finish_rebuild(self, board: Board, token: bytes) -> bool:
        """Open the shard for reads; False when it was lost meanwhile."""
        ...

    async def put(self, board: Board, mark: int, cards: Sequence[Card], *, force: bool) -> None:
        """Apply cards by their versions; with `force` also those that seem to be known."""
        ...

    async def differing(self, board: Board, cards: Sequence[Card]) -> list[tuple[str, str]]:
        """(player, ladder within the board) where an entry is missing; "" if the card differs."""
        ...

    async def ghosts(self, board: Board, ladder: Ladder, *, remove: bool) -> list[str]:
        """The players on a ladder whose card does not say so; taken off if wanted."""
        ...

    def players(self, board: Board) -> AsyncIterator[list[str]]:
        """Every player that has a card in the shard, some of them twice."""
        ...

    async def forget(self, board: Board, players: Sequence[str]) -> None:
        """Drop what is left of erased players: their empty cards."""
        ...

    async def remove(self, board: Board) -> None:
        """Forget the shard."""
        ...
