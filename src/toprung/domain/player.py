"""What a player id, an attribute and a scope value may look like.

Ids are opaque: compared as UTF-8 bytes, never normalised, case matters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import islice

import msgspec
from msgspec import UNSET, UnsetType

from toprung.domain.values import parse_text
from toprung.errors import Invalid

PLAYER_ID_BYTES_MAX = 128
NAME_BYTES_MAX = 256
URL_BYTES_MAX = 2048
SCOPE_VALUE_BYTES_MAX = 64
ATTRIBUTES_MAX = 16
GLOBAL = "global"

# Words with a meaning of their own in `scopes` and in read options.
_RESERVED_ATTRIBUTES = frozenset({GLOBAL, "friends"})

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_BLANK_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cf"})
_BLANK_CHARACTERS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Fillers, joiners and selectors: by category letters, marks or nothing yet, and not to be seen."""
_WEB_ADDRESS = re.compile(r"https?://[^\s/]\S*", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)


class PlayerProfile(msgspec.Struct, frozen=True):
    """What is known of a player besides results; erasable."""

    player: str
    name: str | None = None
    avatar_url: str | None = None
    attributes: Mapping[str, str] = {}
    pending_name: str | UnsetType = UNSET
    """In the answer to who set it, and in exports: a name that waits for a moderator; until then
    the old one is shown."""
    warnings: tuple[str, ...] | UnsetType = UNSET
    """In the answer to who set it: what about the name may deceive people, `mixed-scripts`,
    `look-alikes` or `compatibility-forms`."""


def parse_player(value: object, field: str = "player") -> str:
    """A valid player id, unchanged.

    >>> parse_player("alice")
    'alice'
    >>> parse_player("a/b")
    Traceback (most recent call last):
    toprung.errors.Invalid: player: must not contain "/" or "\\"
    """
    text = check_text(value, PLAYER_ID_BYTES_MAX, field)
    if "/" in text or "\\" in text:
        raise Invalid(field, 'must not contain "/" or "\\"')
    if text in (".", ".."):
        raise Invalid(field, 'must not be "." or ".."')
    return text


def parse_players(players: object, most: int) -> list[str]:
    """Player ids, each once, in the order given.

    >>> parse_players(["alice", "bob", "alice"], 1000)
    ['alice', 'bob']
    """
    if isinstance(players, str | Mapping) or not isinstance(players, Iterable):
        raise Invalid("players", "must be a list of player ids")
    some = islice(players, most + 1)
    ids = [parse_player(player, f"players/{at}") for at, player in enumerate(some)]
    if len(ids) > most:
        raise Invalid("players", f"must be at most {most} player ids")
    return list(dict.fromkeys(ids))


def parse_name(value: object, bytes_max: int = NAME_BYTES_MAX, field: str = "name") -> str:
    """A name that people can see.

    >>> parse_name("Ann"), parse_name(" Ann B.")
    ('Ann', ' Ann B.')
    >>> parse_name(" \u200b ")
    Traceback (most recent call last):
    toprung.errors.Invalid: name: must have a visible character
    """
    text = check_text(value, bytes_max, field)
    if all(map(_is_blank, text)):
        raise Invalid(field, "must have a visible character")
    return text


def parse_avatar_url(value: object) -> str:
    """The web address of a picture."""
    url = check_text(value, URL_BYTES_MAX, "avatar_url")
    if not _WEB_ADDRESS.fullmatch(url):
        raise Invalid("avatar_url", "must be an http or https URL")
    return url


def fold_name(text: str) -> str:
    """A name as it is compared when somebody is looked for: without case or typographic form.

    >>> fold_name("Stra\u00dfe"), fold_name("\uff21nn"), fold_name("  Ann")
    ('strasse', 'ann', 'ann')
    """
    return unicodedata.normalize("NFKC", text).casefold().strip()


def name_range(prefix: str) -> tuple[str, str]:
    """Where folded names that begin like `prefix` begin, and where they end, in byte order.

    >>> name_range("An")
    ('an', 'an\U0010ffff')
    """
    folded = fold_name(prefix)
    return folded, folded + "\U0010ffff"


def _is_blank(character: str) -> bool:
    return (
        unicodedata.category(character) in _BLANK_CATEGORIES
        or _BLANK_CHARACTERS.match(character) is not None
    )


def parse_attributes(value: object, field: str = "attributes") -> dict[str, str]:
    """A player's attributes, in the order of their names.

    >>> parse_attributes({"platform": "pc", "country": "US"})
    {'country': 'US', 'platform': 'pc'}
    """
    if not isinstance(value, Mapping):
        raise Invalid(field, "must be an object of names and text values")
    _check_attribute_count(value, field)
    names = [check_attribute(name, field) for name in value]
    return {name: parse_scope_value(value[name], f"{field}/{name}") for name in sorted(names)}


def parse_attribute_changes(value: object, field: str = "attributes") -> dict[str, str | None]:
    """Attributes to set, and (None) to take away.

    >>> parse_attribute_changes({"country": "US", "platform": None})
    {'country': 'US', 'platform': None}
    """
    if not isinstance(value, Mapping):
        raise Invalid(field, "must be an object of names and text values")
    if len(value) > 2 * ATTRIBUTES_MAX:  # all that a player has may go, and as many come
        raise Invalid(field, f"must have at most {2 * ATTRIBUTES_MAX} members")
    given = {name: text for name, text in value.items() if text is not None}
    gone = {check_attribute(name, field): None for name in value if name not in given}
    return {**parse_attributes(given, field), **gone}


def merged_attributes(
    before: Mapping[str, str], changes: Mapping[str, str | None]
) -> dict[str, str]:
    """The attributes that a player has after some of them changed.

    >>> merged_attributes({"country": "US", "vip": "1"}, {"country": "PT", "vip": None})
    {'country': 'PT'}
    """
    merged = {**before, **changes}
    kept = {name: text for name, text in sorted(merged.items()) if text is not None}
    _check_attribute_count(kept, "attributes")
    return kept


def _check_attribute_count(attributes: Mapping[str, str], field: str) -> None:
    if len(attributes) > ATTRIBUTES_MAX:
        raise Invalid(field, f"must have at most {ATTRIBUTES_MAX} members")


def check_attribute(name: object, field: str) -> str:
    """A valid attribute name, which is also the name of a scope."""
    if not isinstance(name, str) or not _ATTRIBUTE.fullmatch(name):
        raise Invalid(field, "attribute names have 1-32 of a-z, 0-9 and _, starting with a letter")
    if name in _RESERVED_ATTRIBUTES:
        raise Invalid(field, f"{name!r} is a reserved word")
    return name


def parse_scope_value(value: object, field: str) -> str:
    """A valid attribute value, such as the US of ``country:US``."""
    return check_text(value, SCOPE_VALUE_BYTES_MAX, field)


def check_text(value: object, bytes_max: int, field: str) -> str:
    """Text of 1 to `bytes_max` UTF-8 bytes without control characters."""
    if not isinstance(value, str):
        value = parse_text(value, field)
    if not value:
        raise Invalid(field, "must not be empty")
    if value.isascii():
        if value.isprintable() and len(value) <= bytes_max:
            return value
        length = len(value)
    else:
        try:
            length = len(value.encode())
        except UnicodeEncodeError:
            raise Invalid(field, "is not valid Unicode text (a lone surrogate)") from None
    if length > bytes_max:
        raise Invalid(field, f"must have at most {bytes_max} bytes in UTF-8, has {length}")
    if _CONTROL.search(value):
        raise Invalid(field, "must not contain control characters")
    return value
