"""Who did something, as one value: what administrative acts are recorded with."""

from typing import Final, Literal

import msgspec


class Actor(msgspec.Struct, frozen=True):
    """Who acts: a key, a player with a token, or somebody at the machine itself.

    `id` is the key's id or the player's id. `local` is a caller of a service without keys, which is
    for users of its machine, `library` a program that opened the store, `cli` the command line on a
    store; their `id` is empty, unless there is something better to say.
    """

    kind: Literal["key", "player", "local", "library", "cli"]
    id: str = ""

    @property
    def text(self) -> str:
        """The actor as people read it.

        >>> Actor("key", "mfzwizlr").text, Actor("cli").text
        ('key:mfzwizlr', 'cli')
        """
        return f"{self.kind}:{self.id}" if self.id else self.kind


LOCAL: Final = Actor("local")
"""Who calls a service without showing anything."""
