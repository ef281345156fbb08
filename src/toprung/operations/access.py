"""Who may run an operation: one row of the access table.

Rows are made from what operations declare; `http.auth` is the only place that goes by them, and
documents show them.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from toprung.domain.access import Verb

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
