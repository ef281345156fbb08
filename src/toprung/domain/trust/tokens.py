"""Players' tokens: what the claims of a JSON Web Token must say, and what they allow.

Whether a token is genuine is for those to say who hold keys (`http.tokens`); here is what is read
from it then. Times are judged by the service's own clock, with a little leeway for the issuer's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from toprung.domain.access import EVERY_BOARD, are_for, parse_patterns
from toprung.domain.instant import SECOND
from toprung.domain.player import parse_player
from toprung.errors import Invalid

TOKEN_CHARACTERS_MAX: Final = 4096
"""Longer ones are not looked at."""
LEEWAY_SECONDS: Final = 10
LEEWAY_SECONDS_MAX: Final = 300
LIFETIME_SECONDS_MAX: Final = 100 * 366 * 86_400
AUDIENCES_MAX: Final = 64
_TIME_MAX: Final = 2**53


class TokenRules(msgspec.Struct, frozen=True, kw_only=True):
    """What a service insists on, beyond a signature and an end."""

    audience: str | None = None
    """What `aud` must be, or name; None: a token for somebody else in particular is refused."""
    issuer: str | None = None
    """What `iss` must be; None: whoever has the key."""
    leeway_seconds: int = LEEWAY_SECONDS
    """How far clocks may differ."""
    lifetime_seconds: int | None = None
    """How long a token may live, from `iat` to `exp`; None: as long as its issuer says."""


class PlayerToken(msgspec.Struct, frozen=True):
    """Who has shown a token: a player, for some boards, for a time."""

    player: str
    boards: tuple[str, ...]
    """Patterns of board ids, in which * stands for any characters."""
    begins_at: int
    """Microseconds, the leeway included, as in `ends_at`."""
    ends_at: int

    def is_for(self, board_id: str | None) -> bool:
        """Whether it is for a board; None means something beyond single boards.

        >>> PlayerToken("alice", ("eu-*",), 0, 1).is_for("eu-blitz")
        True
        """
        return are_for(self.boards, board_id)

    def fault(self, now: int) -> str | None:
        """Why it cannot be used at this time; None if it can."""
        if now >= self.ends_at:
            return "has expired"
        return "is not valid yet" if now < self.begins_at else None


class BadClaims(Exception):  # noqa: N818 -- it says what is wrong with a token
    """A token that is genuine, and does not say what it must."""


def token_of(claims: Mapping[str, Any], rules: TokenRules) -> PlayerToken:
    """What a genuine token allows; BadClaims if it lacks something.

    >>> token_of({"sub": "alice", "exp": 60}, TokenRules(leeway_seconds=0))
    PlayerToken(player='alice', boards=('*',), begins_at=0, ends_at=60000000)
    >>> token_of({"sub": "alice"}, TokenRules())
    Traceback (most recent call last):
    toprung.domain.trust.tokens.BadClaims: exp is missing
    """
    _check_audience(claims, rules.audience)
    if rules.issuer is not None and claims.get("iss") != rules.issuer:
        raise BadClaims("iss is not the issuer that this service trusts")
    expires = _time(claims, "exp")
    if expires is None:
        raise BadClaims("exp is missing")
    issued, begins = _time(claims, "iat"), _time(claims, "nbf")
    _check_lifetime(issued, expires, rules.lifetime_seconds)
    leeway = rules.leeway_seconds * SECOND
    begins = max(issued or 0, begins or 0)
    return PlayerToken(_player(claims), _boards(claims), max(0, begins - leeway), expires + leeway)


def _check_audience(claims: Mapping[str, Any], audience: str | None) -> None:
    """Refuse what is for another service; RFC 7519 says so even if this one has no name."""
    said = claims.get("aud")
    if audience is None:
        if said is not None:
            raise BadClaims("aud names a service, and this one has no audience set")
        return
    named = said if isinstance(said, list) else [said]
    if len(named) > AUDIENCES_MAX or audience not in named:
        raise BadClaims("aud does not name this service")


def _check_lifetime(issued: int | None, expires: int, seconds_max: int | None) -> None:
    if seconds_max is None:
        return
    if issued is None:
        raise BadClaims("iat is missing, and this service limits how long tokens live")
    if expires - issued > seconds_max * SECOND:
        raise BadClaims(f"exp is more than {seconds_max} seconds after iat")


def _time(claims: Mapping[str, Any], name: str) -> int | None:
    """A time in seconds since 1970, perhaps with a fraction, in microseconds."""
    said = claims.get(name)
    if said is None:
        return None
    is_number = isinstance(said, int | float) and not isinstance(said, bool)
    if not is_number or not 0 <= said <= _TIME_MAX:  # which neither inf nor nan is
        raise BadClaims(f"{name} is not a time in seconds")
    return int(said * SECOND)


def _player(claims: Mapping[str, Any]) -> str:
    try:
        return parse_player(claims.get("sub"), "sub")
    except Invalid as error:
        raise BadClaims(f"sub is not a player's id: {error.detail}") from None


def _boards(claims: Mapping[str, Any]) -> tuple[str, ...]:
    said = claims.get("boards")
    if said is None:
        return (EVERY_BOARD,)
    try:
        return parse_patterns(said)
    except Invalid as error:
        raise BadClaims(f"{error.field}: {error.detail}") from None
