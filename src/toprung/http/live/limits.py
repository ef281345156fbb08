"""Live limits: how many live connections and subscriptions there are, in all and of each caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from toprung.http.limits import RateLimit
from toprung.http.problems import Refused
from toprung.http.settings import LIVE_OF_PLAYER, Rate
from toprung.http.turns import Turns

if TYPE_CHECKING:
    from toprung.http.settings import ServiceSettings

MESSAGES: Final = Rate(500.0, 2000)
"""How many messages of all connections of one caller are obeyed; the others wait."""
WAIT_SECONDS_MAX: Final = 10.0
"""For a message's turn; beyond that it is refused."""
AGAIN_SECONDS: Final = 5
"""After which it is worth trying again where there was no room."""

Reason = Literal["connections", "subscriptions", "messages", "unread"]
REASONS: Final[tuple[Reason, ...]] = ("connections", "subscriptions", "messages", "unread")


class Party:
    """What one caller has: a key, a player with a token, or an address without either."""

    __slots__ = ("name", "noun", "sockets", "subscriptions")

    def __init__(self, name: str) -> None:
        self.name = name
        kind = name.partition(" ")[0]
        self.noun = kind if kind in ("key", "player") else "address"
        self.sockets = 0
        self.subscriptions = 0


class LiveLimits:
    """Counts what is live, whichever way it came, and refuses too much of it.

    It also has what all live connections share: the turns, and the counts of what was refused.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.turns = Turns()
        self._parties: dict[str, Party] = {}
        self._messages = RateLimit(MESSAGES)
        self.connections = 0
        self.subscriptions = 0
        self._weight = 0
        """Of all subscriptions: those to many friends count as more than one."""
        self.unparsed_bytes = 0
        """Received on WebSockets and not looked at yet."""
        self.refused: dict[str, int] = dict.fromkeys(REASONS, 0)

    def take(self, caller: str) -> Party:
        """Count a connection; Refused when there are too many, in all or of this caller."""
        party = self._parties.get(caller) or Party(caller)
        most = self._share(party, self.settings.sockets_per_caller_max, LIVE_OF_PLAYER.connections)
        if self.connections >= self.settings.sockets_max:
            raise self._full("connections")
        if party.sockets >= most:
            raise self._enough("connections", party, most)
        self._parties[caller] = party
        party.sockets += 1
        self.connections += 1
        return party

    def leave(self, party: Party) -> None:
        """One connection less."""
        self.connections -= 1
        party.sockets -= 1
        if not party.sockets:
            del self._parties[party.name]

    def subscribe(self, party: Party) -> None:
        """Count one more subscription; Refused when there are too many."""
        self.weigh(party, 1)
        self.subscriptions += 1

    def weigh(self, party: Party, added: int) -> None:
        """Count a subscription as so many more; Refused when there are too many."""
        usual = self.settings.subscriptions_per_caller_max
        most = self._share(party, usual, LIVE_OF_PLAYER.subscriptions)
        if added > 0 and self._weight + added > self.settings.subscriptions_max:
            raise self._full("subscriptions")
        if added > 0 and party.subscriptions + added > most:
            raise self._enough("subscriptions", party, most)
        party.subscriptions += added
        self._weight += added

    def unsubscribe(self, party: Party, weight: int = 1) -> None:
        """One subscription less, which counted as so many."""
        party.subscriptions -= weight
        self._weight -= weight
        self.subscriptions -= 1

    def pace(self, party: Party, cost: int) -> float:
        """Count a message; the seconds that it has to wait for the caller's other messages."""
        wait = self._messages.book(party.name, cost, WAIT_SECONDS_MAX)
        if wait is None:
            self.refuse("messages")
            raise Refused(
                429,
                "too-many-requests",
                f"this {party.noun} sends too many messages; try again in {AGAIN_SECONDS} s",
            )
        return wait

    def _share(self, party: Party, usual: int, of_player: int) -> int:
        """How much this caller may have: players are many, and each is one person."""
        return min(usual, of_player) if party.noun == "player" else usual

    def refuse(self, reason: Reason) -> None:
        """Count what was refused."""
        self.refused[reason] += 1

    def _full(self, what: Literal["connections", "subscriptions"]) -> Refused:
        self.refuse(what)
        return Refused(
            503,
            "unavailable",
            f"the service cannot take more live {what} now; try again in {AGAIN_SECONDS} s",
            headers=_AGAIN,
        )

    def _enough(
        self, what: Literal["connections", "subscriptions"], party: Party, most: int
    ) -> Refused:
        self.refuse(what)
        return Refused(
            429,
            "too-many-requests",
            f"this {party.noun} already has {most:,} live {what}, which is the limit",
            headers=_AGAIN,
        )


_AGAIN: Final = ((b"retry-after", b"%d" % AGAIN_SECONDS),)
