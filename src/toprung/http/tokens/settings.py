"""What an operator says about players' tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from toprung.domain.trust.tokens import (
    LEEWAY_SECONDS,
    LEEWAY_SECONDS_MAX,
    LIFETIME_SECONDS_MAX,
    TokenRules,
)
from toprung.domain.values import bounded
from toprung.errors import Invalid

PLACES_MAX: Final = 8
"""Files and URLs that keys come from."""
NAME_MAX: Final = 1000

_URL = re.compile(r"https?://", re.IGNORECASE)
_HERE: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class TokenSettings:
    """Where the keys of tokens come from, and what else is asked of tokens."""

    places: tuple[str, ...] = ()
    """Files and URLs."""
    secret: str | None = field(default=None, repr=False)
    """One that is not in a file."""
    rules: TokenRules = field(default_factory=TokenRules)


def parse_token_settings(
    places: Sequence[str] = (),
    secret: str | None = None,
    *,
    audience: str | None = None,
    issuer: str | None = None,
    lifetime_seconds: object = None,
    leeway_seconds: object = None,
) -> TokenSettings | None:
    """The settings, checked; None if there are no keys, so that there can be no tokens.

    >>> parse_token_settings(["https://id.example/keys"], audience="game").rules.audience
    'game'
    >>> parse_token_settings(audience="game")
    Traceback (most recent call last):
    toprung.errors.Invalid: token-keys: is missing: without keys no token can be verified
    """
    said = (audience, issuer, lifetime_seconds, leeway_seconds)
    if not places and secret is None:
        if any(each is not None for each in said):
            raise Invalid("token-keys", "is missing: without keys no token can be verified")
        return None
    if len(places) > PLACES_MAX:
        raise Invalid("token-keys", f"must be at most {PLACES_MAX} files or URLs")
    for place in places:
        if is_url(place):
            _check_url(place)
    rules = TokenRules(
        audience=_name(audience, "token-audience"),
        issuer=_name(issuer, "token-issuer"),
        leeway_seconds=LEEWAY_SECONDS
        if leeway_seconds is None
        else bounded(leeway_seconds, LEEWAY_SECONDS_MAX, "token-leeway", 0),
        lifetime_seconds=None
        if lifetime_seconds is None
        else bounded(lifetime_seconds, LIFETIME_SECONDS_MAX, "token-lifetime"),
    )
    return TokenSettings(tuple(places), secret, rules)


def is_url(place: str) -> bool:
    """Whether a place is a URL; else it is a file.

    >>> is_url("https://id.example/keys"), is_url("keys.json")
    (True, False)
    """
    return _URL.match(place) is not None


def _check_url(url: str) -> None:
    """Keys that came unencrypted might be anybody's; within this machine they may."""
    try:
        parts = urlsplit(url)
        host, has_port = parts.hostname, parts.port is None or parts.port > 0
    except ValueError:
        raise Invalid("token-keys", f"{url!r} is not a valid URL") from None
    if parts.username is not None or parts.fragment or not has_port or not url.isprintable():
        detail = f"{url!r} must be an address alone, without user, password and fragment"
        raise Invalid("token-keys", detail)
    if not host or (parts.scheme.lower() == "http" and host not in _HERE):
        detail = f"{url!r} must begin with https://, unless it is of this machine"
        raise Invalid("token-keys", detail)


def _name(value: str | None, field: str) -> str | None:
    if value is not None and not 0 < len(value) <= NAME_MAX:
        raise Invalid(field, f"must be text of 1 to {NAME_MAX} characters")
    return value
