"""Restricting a player, and lifting the restriction: entries move to hidden scopes, and back."""

from __future__ import annotations

from toprung.domain.board import Board
from toprung.domain.commands.acting import ByHand
from toprung.domain.commands.deciding import (
    Decision,
    Needs,
    State,
    made_player,
    require_player,
)
from toprung.domain.documents import plain_value
from toprung.domain.ending import is_settled
from toprung.domain.events import DocumentSet, EventBody, PeriodName, PlayerRestricted
from toprung.domain.player_numbers import PlayerNumber
from toprung.domain.trust.restriction import (
    DUE,
    RESTRICTION,
    Kind,
    Restriction,
    RestrictionDue,
    RestrictionRecord,
    due_key,
    restricted_attributes,
    restriction_on,
)


class RestrictPlayer(ByHand, frozen=True, kw_only=True):
    """Hide a player's entries from others, in place of whatever restriction there was."""

    player: str
    kind: Kind
    boards: tuple[str, ...]
    reason: str
    until: int | None = None

    @property
    def needs(self) -> Needs:
        """The player, its entries everywhere, and what is known of its restriction."""
        return Needs(
            players=(self.player,), makes_players=True, entries=True, documents_of=(RESTRICTION,)
        )

    def decide(self, state: State) -> Decision:
        """Entries of all periods that are not settled move."""
        number = made_player(state, self.player)
        record = RestrictionRecord(
            player=number,
            kind=self.kind,
            boards=self.boards,
            reason=self.reason,
            at=state.moment.recorded_at,
            until=self.until,
            by="" if self.by is None else self.by.actor.text,
        )
        text = Restriction(self.kind, self.boards).text
        events: list[EventBody] = [
            self.signed(state, "player.restrict", _restricted(state, number, text)),
            *forgotten(state, number),
            DocumentSet(RESTRICTION, str(number), plain_value(RESTRICTION, record)),
        ]
        if self.until is not None:
            due = plain_value(DUE, RestrictionDue(number))
            events.append(DocumentSet(DUE, due_key(self.until, number), due))
        return Decision(tuple(events))


class LiftRestriction(ByHand, frozen=True):
    """Show a player's entries again; harmless if there is no restriction."""

    player: str
    until: int | None = None
    """Only a restriction that ends at this time, which has passed; None: whatever there is."""

    @property
    def needs(self) -> Needs:
        """The player, its entries everywhere, and what is known of its restriction."""
        return Needs(players=(self.player,), entries=True, documents_of=(RESTRICTION,))

    def decide(self, state: State) -> Decision:
        """Entries of all periods that are not settled move back."""
        number = require_player(state, self.player)
        record = record_of(state, number)
        if record is None or (self.until is not None and record.until != self.until):
            return Decision()
        if self.until is not None and state.moment.believed < self.until:
            return Decision()
        lifted = self.signed(state, "player.lift", _restricted(state, number, None))
        return Decision((lifted, *forgotten(state, number)))


def record_of(state: State, number: PlayerNumber) -> RestrictionRecord | None:
    """What is known of a player's restriction."""
    document = state.document((RESTRICTION, str(number)))
    if document is None:
        return None
    assert isinstance(document.value, RestrictionRecord), "documents of the kind are that"
    return document.value


def forgotten(state: State, number: PlayerNumber) -> tuple[DocumentSet, ...]:
    """What deletes all that is known of a player's restriction."""
    record = record_of(state, number)
    if record is None:
        return ()
    gone = DocumentSet(RESTRICTION, str(number), None)
    if record.until is None:
        return (gone,)
    return gone, DocumentSet(DUE, due_key(record.until, number), None)


def _restricted(state: State, number: PlayerNumber, text: str | None) -> PlayerRestricted:
    before = state.attributes(number)
    after = restricted_attributes(before, text)
    moved: dict[str, tuple[PeriodName, ...]] = {}
    for board in state.boards_of(number):
        was, will = (restriction_on(board.id, each) is not None for each in (before, after))
        periods = _movable(state, board, number) if was != will else ()
        if periods:
            moved[board.id] = periods
    return PlayerRestricted(number, text, moved)


def _movable(state: State, board: Board, number: PlayerNumber) -> tuple[PeriodName, ...]:
    """The periods whose entries move: nothing does in those that are settled."""
    return tuple(name for name in state.periods_of(board, number) if not is_settled(board, name))
