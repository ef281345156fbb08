"""Restrictions: players whose entries are hidden from others, and what that means for scopes.

Every scope has a hidden *twin*, such as ``~global`` or ``~country:US``, which nobody can ask for.
The entries of a restricted player count in the twins of their scopes, one to one: there they are
kept up as everywhere else, and nothing that others read has to leave them out.

What decides it is a reserved attribute of the player, because attributes decide scopes: its name is
none that anybody could give, and its value says of what kind the restriction is and on which boards
it applies. Whoever shows attributes leaves it out; whoever sets them keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, Literal, NamedTuple, get_args

import msgspec

from toprung.domain.access import EVERY_BOARD, parse_patterns
from toprung.domain.documents import declare
from toprung.domain.player_numbers import PlayerNumber
from toprung.domain.values import parse_choice
from toprung.errors import Invalid, Restricted

HIDDEN: Final = "~"
"""How the twins of scopes begin, and the name of the attribute that is a restriction."""
RESTRICTION: Final = "restriction"
"""The kind of document with what moderators said; its key is the player's number."""
DUE: Final = "restriction-due"
"""The kind of document by which restrictions that end are found, in the order of their ends."""

Kind = Literal["hidden", "shadow", "banned"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


class Restriction(NamedTuple):
    """What a restriction does, as an attribute says it."""

    kind: Kind
    boards: tuple[str, ...]
    """Patterns of board ids, in which * stands for any characters."""

    def covers(self, board_id: str) -> bool:
        """Whether it applies on a board.

        >>> Restriction("hidden", ("eu-*",)).covers("eu-blitz")
        True
        """
        return EVERY_BOARD in self.boards or _matches(self.boards, board_id)

    @property
    def text(self) -> str:
        """The value of the attribute.

        >>> Restriction("banned", ("eu-*", "us")).text
        'banned eu-* us'
        """
        return " ".join((self.kind, *self.boards))


@lru_cache(maxsize=4096)
def _matches(patterns: tuple[str, ...], board_id: str) -> bool:
    return any(fnmatchcase(board_id, pattern) for pattern in patterns)


@lru_cache(maxsize=4096)
def _read(text: str) -> Restriction:
    kind, *boards = text.split(" ")
    return Restriction(parse_choice(kind, KINDS, "kind"), tuple(boards))


def restriction_in(attributes: Mapping[str, str]) -> Restriction | None:
    """The restriction of a player with these attributes.

    >>> restriction_in({"country": "US", "~": "shadow *"})
    Restriction(kind='shadow', boards=('*',))
    """
    text = attributes.get(HIDDEN)
    return None if text is None else _read(text)


def restriction_on(board_id: str, attributes: Mapping[str, str]) -> Restriction | None:
    """The restriction of a player with these attributes, if it applies on a board."""
    found = restriction_in(attributes)
    return found if found is not None and found.covers(board_id) else None


def check_not_banned(board_id: str, attributes: Mapping[str, str]) -> None:
    """Refuse the submission of a player who is banned from a board."""
    found = restriction_on(board_id, attributes)
    if found is not None and found.kind == "banned":
        raise Restricted("player", f"is banned from board {board_id!r}; nothing was recorded")


def shown_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    """The attributes that people see.

    >>> shown_attributes({"country": "US", "~": "banned *"})
    {'country': 'US'}
    """
    return {name: text for name, text in attributes.items() if name != HIDDEN}


def restricted_attributes(attributes: Mapping[str, str], text: str | None) -> dict[str, str]:
    """The attributes with a restriction instead of the one they have; None: with none."""
    shown = shown_attributes(attributes)
    return shown if text is None else {**shown, HIDDEN: text}


# --- scopes and their twins -----------------------------------------------------------------------


def is_hidden(scope: str) -> bool:
    """Whether a scope is the twin of another, which nobody reads."""
    return scope.startswith(HIDDEN)


def plain_scope(scope: str) -> str:
    """The scope that people know.

    >>> plain_scope("~country:US"), plain_scope("global")
    ('country:US', 'global')
    """
    return scope.removeprefix(HIDDEN)


def hidden_scope(scope: str) -> str:
    """The twin of a scope; a twin is its own.

    >>> hidden_scope("global"), hidden_scope("~global")
    ('~global', '~global')
    """
    return scope if is_hidden(scope) else HIDDEN + scope


def twinned(scopes: Iterable[str], *, hidden: bool) -> tuple[str, ...]:
    """The scopes as they are for players who are restricted, or are not.

    >>> twinned(("global", "country:US"), hidden=True)
    ('~global', '~country:US')
    """
    change = hidden_scope if hidden else plain_scope
    return tuple(map(change, scopes))


# --- what moderators say --------------------------------------------------------------------------


class RestrictionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a player's restriction."""

    player: PlayerNumber
    kind: Kind
    boards: tuple[str, ...]
    reason: str
    at: int
    until: int | None = None
    by: str = ""


class RestrictionDue(msgspec.Struct, frozen=True):
    """That a player's restriction ends at the time in its key."""

    player: PlayerNumber


declare(RESTRICTION, RestrictionRecord, names_player=True)
declare(DUE, RestrictionDue, names_player=True)


def due_key(until: int, player: int) -> str:
    """The key of the document by which the end of a restriction is found.

    >>> due_key(1_763_200_000_000_000, 7)
    '00001763200000000000/7'
    """
    return f"{until:020}/{player}"


def due_at(key: str) -> int:
    """When the restriction ends whose document has this key."""
    return int(key.partition("/")[0])


def parse_kind(kind: object) -> Kind:
    """What a restriction does."""
    return parse_choice(kind, KINDS, "kind")


def parse_boards(boards: object) -> tuple[str, ...]:
    """The boards on which a restriction applies.

    >>> parse_boards(["*", "blitz"])
    ('*',)
    """
    if isinstance(boards, str):
        raise Invalid("boards", "must be a list of patterns of board ids")
    found = parse_patterns(boards)
    return (EVERY_BOARD,) if EVERY_BOARD in found else tuple(dict.fromkeys(found))
