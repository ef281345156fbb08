"""Which boards a live connection may watch, and what strangers are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toprung.http.problems import Refused

if TYPE_CHECKING:
    from toprung.domain.access import AccessKey
    from toprung.http.live.messages import Subscribe
    from toprung.http.state import ServiceState


class Access:
    """Which boards a connection may watch."""

    def __init__(self, state: ServiceState, key: AccessKey | None, *, trusted: bool) -> None:
        self._state = state
        self._key = key
        self._trusted = trusted

    @property
    def key_id(self) -> str | None:
        """The key that was shown."""
        return None if self._key is None else self._key.id

    async def admit(self, asked: Subscribe) -> bool:
        """Refuse what may not be watched; whether it may only because the board is public."""
        if self._trusted or (self._key is not None and self._key.allows("read", asked.board)):
            return False
        if not await self._state.is_public(asked.board):
            raise not_public(asked.board)
        what = "friends" if asked.friends else "submissions"
        if asked.friends or asked.activity is not None:
            detail = f"{what} are not public; board {asked.board!r} needs a key that allows 'read'"
            raise Refused(403, "forbidden", detail)
        return True


def not_public(board_id: str) -> Refused:
    """What a stranger is told of a private board and of one that does not exist, alike."""
    return Refused(
        403, "forbidden", f"board {board_id!r} is not public: it needs a key that allows 'read'"
    )
