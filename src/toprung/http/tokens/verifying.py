"""Verifying tokens: whose it is, if it is genuine, and says what it must.

A token that was verified is remembered by its hash, so that a player who comes again and again
costs no signature each time. It is forgotten when keys change; its times are looked at every time.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final

import msgspec

from toprung.domain.trust.tokens import TOKEN_CHARACTERS_MAX, BadClaims, PlayerToken, token_of
from toprung.http.tokens.keys import TokenKey, require_tokens, secret_key
from toprung.http.tokens.settings import TokenSettings, is_url
from toprung.http.tokens.sources import FileKeys, FixedKeys, KeySource, UrlKeys
from toprung.ports import Clock

REMEMBERED_MAX: Final = 20_000

_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*", re.ASCII)


class TokenRefused(Exception):  # noqa: N818 -- it says what became of a token
    """A token cannot be used; the reason is for its bearer."""


class KeysMissing(Exception):  # noqa: N818
    """The keys that could verify a token cannot be read at present."""


def is_token(text: str) -> bool:
    """Whether a text looks like a token, and not like a key.

    >>> is_token("eyJhbGciOiJIUzI1NiJ9.e30.c2ln"), is_token("tr_mfzwizlr_secret")
    (True, False)
    """
    return text.count(".") == 2


class Tokens:
    """Verifies players' tokens by one service's settings."""

    def __init__(self, settings: TokenSettings, clock: Clock) -> None:
        require_tokens()
        self._clock = clock
        self._rules = settings.rules
        self._sources = _sources(settings, clock)
        self._remembered: dict[bytes, PlayerToken] = {}
        self._verified_with = [source.keys for source in self._sources]

    async def tend(self) -> None:
        """Look for changed keys, where it is time to."""
        for source in self._sources:
            await source.refresh(now=False)

    async def verify(self, text: str) -> PlayerToken:
        """Who shows this token; TokenRefused or KeysMissing if nobody can tell."""
        if len(text) > TOKEN_CHARACTERS_MAX:
            raise TokenRefused(f"has more than {TOKEN_CHARACTERS_MAX} characters")
        name = hashlib.sha256(text.encode("latin-1", "replace")).digest()
        keys = self._current_keys()
        token = self._remembered.get(name)
        if token is None:
            token = await self._read(text, keys)
            self._remember(name, token)
        fault = token.fault(self._clock.now())
        if fault is not None:
            raise TokenRefused(fault)
        return token

    async def _read(self, text: str, keys: tuple[TokenKey, ...]) -> PlayerToken:
        header = _header(text)
        payload = _payload(text, header, keys)
        if payload is None and not _is_known(header, keys):
            for source in self._sources:
                await source.refresh(now=True)
            payload = _payload(text, header, self._current_keys())
        if payload is None:
            if any(source.is_missing for source in self._sources):
                raise KeysMissing
            raise TokenRefused("is not signed with a key that this service knows")
        try:
            return token_of(_claims(payload), self._rules)
        except BadClaims as error:
            raise TokenRefused(f"cannot be used: {error}") from None

    def _current_keys(self) -> tuple[TokenKey, ...]:
        """All keys; what was verified with others counts no more."""
        keys = [source.keys for source in self._sources]
        if keys != self._verified_with:
            self._verified_with = keys
            self._remembered.clear()
        return tuple(key for some in keys for key in some)

    def _remember(self, name: bytes, token: PlayerToken) -> None:
        if len(self._remembered) >= REMEMBERED_MAX:
            del self._remembered[next(iter(self._remembered))]
        self._remembered[name] = token


def _sources(settings: TokenSettings, clock: Clock) -> list[KeySource]:
    found: list[KeySource] = []
    if settings.secret is not None:
        found.append(FixedKeys((secret_key(settings.secret.encode(), "TOPRUNG_TOKEN_SECRET"),)))
    places = settings.places
    return [*found, *(UrlKeys(at, clock) if is_url(at) else FileKeys(at, clock) for at in places)]


def _header(text: str) -> dict[str, Any]:
    from jwt import PyJWTError, get_unverified_header

    if not _TOKEN.fullmatch(text):
        raise TokenRefused("is not a JSON Web Token")
    try:
        return get_unverified_header(text)
    except (PyJWTError, ValueError, RecursionError):
        raise TokenRefused("is not a JSON Web Token") from None


def _candidates(header: dict[str, Any], keys: tuple[TokenKey, ...]) -> list[TokenKey]:
    """The keys that may have signed a token: of its algorithm, and its `kid` if both have one."""
    kid, algorithm = header.get("kid"), header.get("alg")
    return [
        key
        for key in keys
        if key.algorithm == algorithm and (kid is None or key.kid is None or key.kid == kid)
    ]


def _is_known(header: dict[str, Any], keys: tuple[TokenKey, ...]) -> bool:
    """Whether the key that a token names is there, so that looking again is of no use."""
    kid = header.get("kid")
    return bool(keys) and (kid is None or any(key.kid == kid for key in keys))


def _payload(text: str, header: dict[str, Any], keys: tuple[TokenKey, ...]) -> bytes | None:
    for key in _candidates(header, keys):
        payload = key.payload_of(text)
        if payload is not None:
            return payload
    return None


def _claims(payload: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(payload, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise BadClaims("its claims are not a JSON object") from None
