"""Keys and webhooks for somebody in particular, whose changes of them are recorded as acts.

Both live in stores of their own, beside the journal. So the act is recorded first: if the change
fails then, the log says what was tried.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from toprung.domain.trust.act import ActName
from toprung.service.keys import Keys
from toprung.service.webhooks.service import Webhooks

NoteAct: TypeAlias = Callable[[ActName, str], Awaitable[None]]
"""Records an act and what it is about."""


class ActingKeys(Keys):
    """The same keys: all that is known of them is shared with those that it was made of."""

    __slots__ = ("_note_act",)

    def __init__(self, keys: Keys, note_act: NoteAct) -> None:
        self.__dict__ = keys.__dict__
        self._note_act = note_act

    async def _note(self, name: ActName, subject: str) -> None:
        await self._note_act(name, subject)


class ActingWebhooks(Webhooks):
    """The same webhooks."""

    __slots__ = ("_note_act",)

    def __init__(self, webhooks: Webhooks, note_act: NoteAct) -> None:
        self.__dict__ = webhooks.__dict__
        self._note_act = note_act

    async def _note(self, name: ActName, subject: str) -> None:
        await self._note_act(name, subject)
