"""Who may run an operation: one row of the access table.

Rows are made from what operations declare; `http.auth` (with `http.own` for players' tokens) is the
only place that goes by them, and documents show them.

There are four kinds of callers: anybody, who gets what public boards show; a player with a token,
who gets the same, and more about itself; a key, by its verbs `read`, `write`, `moderate` and
`admin`; and, where no keys are asked for, the users of the machine, who may do everything.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from toprung.domain.access import Verb

Own = Literal["path", "query", "body"]
"""Where a request names the player whom a token must be of."""
Boards = Literal["one", "all", "some"]
"""Which boards a key must be for: the one in the address, all of them, or those that its handler
finds to be concerned."""


class Access(Struct, frozen=True, kw_only=True):
    """Who may run an operation, where a service requires keys."""

    verb: Verb | None
    """What a key must allow; None where no key is asked for."""
    boards: Boards
    public: bool = False
    """Whether anybody may, on public boards."""
    private_parts: str = ""
    """What needs a key that reads on public boards, too."""
    own: Own | None = None
    """Where the player stands whose own token may run it, too; None: a token gets what anybody
    gets."""
    own_parts: str = ""
    """What of the private parts a player's own token is shown."""

    @property
    def key(self) -> str:
        """What key is needed, in words.

        >>> Access(verb="write", boards="one").key, Access(verb=None, boards="all").key
        ('`write` on the board', '')
        """
        if self.verb is None:
            return ""
        boards = {"one": "the board", "all": "all boards", "some": "the boards concerned"}
        return f"`{self.verb}` on {boards[self.boards]}"

    @property
    def own_player(self) -> str:
        """What a player's own token is for, beyond what anybody gets, in words.

        >>> Access(verb="read", boards="all", own="path").own_player
        'yes, with a token for all boards'
        >>> Access(verb="read", boards="one", own="path", own_parts="details").own_player
        'yes, with details'
        """
        if self.own is None:
            return ""
        if self.own == "body":
            return "boards with `trust` `player` or `signed`"
        parts = self.own_parts and f", with {self.own_parts}"
        return f"yes{parts}" + (", with a token for all boards" if self.boards == "all" else "")

    @property
    def anybody(self) -> str:
        """What is answered without a key, in words.

        >>> Access(verb="read", boards="one", public=True, private_parts="details").anybody
        'public boards, without details'
        """
        if self.verb is None:
            return "yes"
        if not self.public:
            return ""
        return f"public boards{self.private_parts and f', without {self.private_parts}'}"
