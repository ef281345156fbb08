"""Commands that people give by hand: whoever does is recorded with what comes of them."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from toprung.domain.commands.deciding import Decision, Needs, State
from toprung.domain.events import Acted, EventBody
from toprung.domain.trust.act import ActName, By, act_of

E = TypeVar("E", bound=EventBody)


class ByHand(msgspec.Struct, frozen=True, kw_only=True):
    """What commands have in common that may be acts of administration."""

    by: By | None = None
    """Who gives it, and why; None: nobody in particular, such as a job."""

    def signed(self, state: State, name: ActName, event: E) -> E:
        """The event, with who brought it about.

        Not while processes of an older version are at work, which could not read that.
        """
        if self.by is None or not state.allows_acts():
            return event
        return msgspec.structs.replace(event, by=act_of(name, self.by))


class RecordAct(ByHand, frozen=True):
    """Record an act that is no command by itself."""

    name: ActName
    subject: str
    """What it is about, such as the id of a key."""

    @property
    def needs(self) -> Needs:
        """Nothing."""
        return Needs()

    def decide(self, state: State) -> Decision:
        """It is recorded, where everybody at work can read it."""
        event = self.signed(state, self.name, Acted(self.subject))
        return Decision() if event.by is None else Decision((event,))
