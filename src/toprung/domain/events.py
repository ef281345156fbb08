"""Events: the facts of a journal. One struct per kind, the same in both profiles.

A journal records the kind and the fields as JSON, with a position and the time of recording.
Events hold everything that decided them, so that nobody who reads them asks a clock, the zone
database or the rules of another day.

Fields that name players are of the type `PlayerNumber`: whoever copies events to a place where
players have other numbers (`renumbered`) needs to know no kinds. Nothing else in an event can
identify a person, so an erased player is a number that nobody has.

An event that this version does not know, or with a field that it does not know, was recorded by a
newer version: it is refused, never skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

import msgspec

from toprung.domain.board import Board
from toprung.domain.documents import renumbered_key, struct_of
from toprung.domain.ladder import Route
from toprung.domain.player_numbers import PlayerNumber, renumbered_value
from toprung.domain.trust.act import Act, ActRow, actor_text
from toprung.errors import DatabaseDamaged

PeriodName: TypeAlias = tuple[str, str]
"""The name of a window and the id of one of its periods."""


TRUST_FORMAT: Final = 7
"""From this format on, boards may say who is trusted, and what is checked; events say who acted."""


class EventBody(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    """What happened."""

    format: ClassVar[int] = 1
    """The first format in which this kind is as it is: a new kind, or one with a new field, has
    the next number."""

    private: ClassVar[tuple[str, ...]] = ()
    """Fields that may say something about people, or anything at all: attributes, free text. They
    enter the audit log as commitments."""

    by: Act | None = None
    """The act of administration that brought it about, if it was one."""

    @property
    def written_format(self) -> int:
        """The lowest format of which processes can read this event."""
        return self.format if self.by is None else max(TRUST_FORMAT, self.format)


class Scored(EventBody, frozen=True):
    """A submission counted. It is recorded in columns; this is what they say."""

    board: str
    version: int
    """Of the rules that decided it."""
    source: str
    route: Route
    player: PlayerNumber
    at: int
    score: int
    subscore: int | None
    status: int
    """1 if it changed an entry, else 0."""


class BoardSet(EventBody, frozen=True):
    """A board was created, or has other rules now."""

    board: str
    rules: Mapping[str, Any]
    generation: int
    retained: Mapping[str, tuple[str, ...]] | None = None
    """Per window of the old rules, the periods that kept their entries; None: nothing changed."""

    @property
    def written_format(self) -> int:
        """Boards with newer rules are of the format that brought them."""
        newest = max((RULE_FORMATS.get(name, 0) for name in self.rules), default=0)
        newest = max(newest, 0 if self.by is None else TRUST_FORMAT)
        if newest:
            return newest
        windows = self.rules.get("windows", ())
        ends = any(not isinstance(each, str) and "grace" in each for each in windows)
        return PeriodClosed.format if ends or "closed" in self.rules else self.format


class BoardDeleted(EventBody, frozen=True):
    """A board is gone, with everything on it."""

    board: str


class PlayerSet(EventBody, frozen=True):
    """A player has these attributes now."""

    private: ClassVar[tuple[str, ...]] = ("attributes",)

    player: PlayerNumber
    attributes: Mapping[str, str]
    open: Mapping[str, tuple[PeriodName, ...]]
    """By board: the periods whose entries moved to the scopes of the new attributes."""


class PlayerRestricted(EventBody, frozen=True):
    """A player's entries are hidden now, or are no longer: see `domain.trust.restriction`."""

    format: ClassVar[int] = 7

    player: PlayerNumber
    restriction: str | None
    """The value of the attribute that it is; None: it was lifted."""
    moved: Mapping[str, tuple[PeriodName, ...]]
    """By board: the periods whose entries moved to the twins of their scopes, or back."""


class PlayerErased(EventBody, frozen=True):
    """A player is forgotten everywhere."""

    player: PlayerNumber


class EntriesRemoved(EventBody, frozen=True):
    """A player was taken off a board."""

    board: str
    player: PlayerNumber


class Befriended(EventBody, frozen=True):
    """Two players are friends of each other."""

    player: PlayerNumber
    other: PlayerNumber


class Unfriended(EventBody, frozen=True):
    """Two players are friends no more."""

    player: PlayerNumber
    other: PlayerNumber


class EntrySet(NamedTuple):
    """An entry as it is set, with the scopes that it counts in."""

    window: str
    period: str
    scopes: tuple[str, ...]
    score: int
    subscore: int | None
    achieved_at: int
    version: int
    """The position of the submission that it goes back to; 0: this event's."""


class EntriesSet(EventBody, frozen=True):
    """These are now the entries of a player on a board, whatever they were before.

    Whatever recomputes entries records this, so that nobody who replays has to recompute.
    """

    format: ClassVar[int] = 2

    board: str
    player: PlayerNumber
    entries: tuple[EntrySet, ...]
    is_refolded: bool = False
    """Whether those of periods that are not settled are still what the player's submissions lead
    to: then revoking one of them goes back behind this event."""

    @property
    def written_format(self) -> int:
        """One that says more than older processes read is of the format that brought it."""
        return TRUST_FORMAT if self.is_refolded else self.format


class SubmissionRevoked(EventBody, frozen=True):
    """A submission counts no more; what is left of the entries is set by the next event."""

    format: ClassVar[int] = 7
    private: ClassVar[tuple[str, ...]] = ("reason",)

    board: str
    player: PlayerNumber
    submission: int
    """Its position."""
    reason: str


class DocumentSet(EventBody, frozen=True):
    """A document has this value now; None: it is gone."""

    format: ClassVar[int] = 2
    private: ClassVar[tuple[str, ...]] = ("value",)

    kind: str
    key: str
    value: Mapping[str, Any] | None


class PeriodClosed(EventBody, frozen=True):
    """A period takes no late scores any more; nor do those of its window that ended before."""

    format: ClassVar[int] = 4

    board: str
    window: str
    period: str
    ended_at: int

    def ended(self, board: Board, position: int) -> Board:
        """The board after this event."""
        return board.with_closed(self.window, self.ended_at, position)


class PeriodSettled(EventBody, frozen=True):
    """A period changes no more: what stood there, for good."""

    format: ClassVar[int] = 4

    board: str
    window: str
    period: str
    ended_at: int
    players: int
    """On everybody's ladder."""
    entries: int
    """On all ladders."""
    digest: str
    """Of all of them: see `domain.digest`."""

    def ended(self, board: Board, position: int) -> Board:
        """The board after this event."""
        return board.with_settled(self.window, self.ended_at, position)


class PeriodArchived(EventBody, frozen=True):
    """A settled period is in an archive, which its document names: see `domain.archive`."""

    format: ClassVar[int] = 4

    board: str
    generation: int
    """Of the board: a replay has to know which of its periods are not needed."""
    window: str
    period: str
    ended_at: int

    def ended(self, board: Board, position: int) -> Board:
        """The board after this event."""
        return board.with_archived(self.window, self.ended_at, position)


class Corrected(NamedTuple):
    """An entry that an amendment gave another score."""

    player: PlayerNumber
    score: int
    subscore: int | None


class PeriodAmended(EventBody, frozen=True):
    """A settled period was changed: what stands there now, and why.

    Entries that were still in the index are set by events of their own.
    """

    format: ClassVar[int] = 6
    private: ClassVar[tuple[str, ...]] = ("reason",)

    board: str
    window: str
    period: str
    ended_at: int
    players: int
    """On everybody's ladder."""
    entries: int
    """On all ladders."""
    digest: str
    """Of all of them: see `domain.digest`."""
    reason: str
    removed: tuple[PlayerNumber, ...] = ()
    corrected: tuple[Corrected, ...] = ()

    def ended(self, board: Board, position: int) -> Board:
        """The board after this event: only its version tells."""
        return board.recorded(position, board.generation)


class Acted(EventBody, frozen=True):
    """Somebody did what is no event by itself; `by` says who, what and why."""

    format: ClassVar[int] = TRUST_FORMAT

    subject: str
    """The id of what it was about: a key, a webhook, a follower."""


class SubmissionPended(EventBody, frozen=True):
    """A submission waits for a verdict; a document of the kind `review` says everything else."""

    format: ClassVar[int] = 7

    board: str
    submission: int
    """Its position."""
    player: PlayerNumber
    reasons: tuple[str, ...]


class SubmissionDecided(EventBody, frozen=True):
    """A submission that waited has its verdict; the entries that it led to are set by another."""

    format: ClassVar[int] = 7
    private: ClassVar[tuple[str, ...]] = ("reason", "decider")

    board: str
    submission: int
    player: PlayerNumber
    verdict: str
    decider: str
    """Who decided, by a name that they gave."""
    reason: str
    changed: bool = False
    """Whether an entry changed."""


PeriodEvent: TypeAlias = PeriodClosed | PeriodSettled | PeriodArchived | PeriodAmended
"""What becomes of a period; each changes its board."""

KINDS: Final[Mapping[str, type[EventBody]]] = {
    "score": Scored,
    "board": BoardSet,
    "board-deleted": BoardDeleted,
    "player": PlayerSet,
    "restricted": PlayerRestricted,
    "erased": PlayerErased,
    "removed": EntriesRemoved,
    "befriended": Befriended,
    "unfriended": Unfriended,
    "entries": EntriesSet,
    "revoked": SubmissionRevoked,
    "document": DocumentSet,
    "closed": PeriodClosed,
    "settled": PeriodSettled,
    "archived": PeriodArchived,
    "amended": PeriodAmended,
    "acted": Acted,
    "pended": SubmissionPended,
    "decided": SubmissionDecided,
}
"""What journals record for each kind; a name is never given again for something else."""

CARDS_FORMAT: Final = 3
"""From this format on, processes of a cluster read packed cards in the index, and lock cards in the
database. No event is of it, but what is said of formats holds for it, too."""

KEEPING_FORMAT: Final = 5
"""From this format on, boards may say what is kept of them."""

RULE_FORMATS: Final[Mapping[str, int]] = {
    "history": KEEPING_FORMAT,
    "left": TRUST_FORMAT,  # what became of its windows is kept with a board's rules
    **dict.fromkeys(("trust", "run", "rate", "max_per", "anomaly", "review"), TRUST_FORMAT),
}
"""The rules and marks that processes of older formats do not know; null is as good as not said."""

FORMAT: Final = max(CARDS_FORMAT, *RULE_FORMATS.values(), *(kind.format for kind in KINDS.values()))
"""The highest format that this version reads. A cluster writes events of a format once no process
is left that reads less."""

_NAMES: Final = {kind: name for name, kind in KINDS.items()}


def kind_name(kind: type[EventBody]) -> str:
    """What journals call a kind."""
    return _NAMES[kind]


class Event(msgspec.Struct, frozen=True):
    """One fact of the journal, with everything that decided it."""

    position: int
    recorded_at: int
    body: EventBody

    @property
    def kind(self) -> str:
        """The name of its kind."""
        return kind_name(type(self.body))

    @property
    def text(self) -> str:
        """Its body as a journal records it."""
        return msgspec.json.encode(self.body).decode()


def act_row(event: Event) -> ActRow | None:
    """By what an event is found that is an act of administration; None if it is none."""
    body = event.body
    if body.by is None:
        return None
    return ActRow(
        event.position,
        event.recorded_at,
        actor_text(body.by.actor, body.by.id),
        getattr(body, "board", None),
        getattr(body, "player", None),
    )


def read_event(position: int, recorded_at: int, kind: str, text: str | bytes) -> Event:
    """An event as it was recorded.

    >>> read_event(7, 0, "removed", '{"board":"blitz","player":3}').body
    EntriesRemoved(board='blitz', player=3, by=None)
    >>> read_event(7, 0, "teleported", '{"player":3}')
    Traceback (most recent call last):
    toprung.errors.DatabaseDamaged: event 7 is of the kind 'teleported', which this version of \
Toprung does not know: a newer one recorded it; update this one
    """
    if kind not in KINDS:
        raise DatabaseDamaged(
            f"event {position} is of the kind {kind!r}, which this version of Toprung does not"
            " know: a newer one recorded it; update this one"
        )
    try:
        body = _decoder(KINDS[kind]).decode(text)
    except msgspec.DecodeError as error:
        raise DatabaseDamaged(
            f"event {position} of the kind {kind!r} cannot be read ({error}): it is damaged, or a"
            " newer version of Toprung recorded it"
        ) from error
    return Event(position, recorded_at, body)


@cache
def _decoder(kind: type[EventBody]) -> msgspec.json.Decoder[EventBody]:
    return msgspec.json.Decoder(kind)


# --- players in events ----------------------------------------------------------------------------


def renumbered(body: EventBody, number_of: Callable[[int], int]) -> EventBody:
    """The same fact where players have other numbers.

    >>> renumbered(Befriended(3, 7), lambda number: number + 1)
    Befriended(player=4, other=8, by=None)
    """
    if isinstance(body, DocumentSet):
        return msgspec.structs.replace(
            body,
            key=renumbered_key(body.kind, body.key, number_of),
            value=renumbered_document(body.kind, body.value, number_of),
        )
    changed: EventBody = renumbered_value(body, type(body), number_of)
    return changed


def renumbered_document(
    kind: str, value: Mapping[str, Any] | None, number_of: Callable[[int], int]
) -> Mapping[str, Any] | None:
    """The value of a document where players have other numbers."""
    if value is None:
        return None
    struct = struct_of(kind)
    changed = renumbered_value(msgspec.convert(value, struct), struct, number_of)
    plain: Mapping[str, Any] = msgspec.to_builtins(changed)
    return plain
