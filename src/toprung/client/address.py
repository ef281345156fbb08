"""Where a service is, and what is shown to it: a key or a player's token."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import TypeAlias
from urllib.parse import urlsplit

from toprung.domain.values import parse_text
from toprung.errors import Invalid

_URL = re.compile(r"[!-~]{1,2048}", re.ASCII)
_KEY = re.compile(r"[!-~]{1,512}", re.ASCII)
_TOKEN = re.compile(r"[!-~]{1,8192}", re.ASCII)

TokenSource: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""A player's token, or a function that returns one that is valid now, or will."""


class Address:
    """The address of a service and the key for it; the key is in no text made of this."""

    __slots__ = ("_key", "_token", "is_local", "url")

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        token: TokenSource | None = None,
        allow_insecure: bool = False,
    ) -> None:
        """A key is refused over plain HTTP, where anybody on the way could read it.

        Loopback addresses are fine; `allow_insecure` is for a network that is trusted.
        """
        self.url, host, is_encrypted = _parse_url(url)
        self.is_local = _is_loopback(host)
        if key is not None and token is not None:
            raise Invalid("token", "is of no use beside a key; pass one of them")
        if key is not None and not _KEY.fullmatch(key):
            raise Invalid("key", "must be a key as the service showed it, without spaces")
        if token is not None and not callable(token):
            _check_token(token)
        what = "key" if token is None else "token"
        if (key or token) and not (is_encrypted or self.is_local or allow_insecure):
            raise Invalid(
                "url",
                f"{self.url} would carry the {what} unencrypted; use https, or allow_insecure=True"
                " where the network is trusted",
            )
        self._key = key
        self._token = token

    def __repr__(self) -> str:
        return f"<Address {self.url!r}>"

    @property
    def is_of_player(self) -> bool:
        """Whether a player's token is shown, which may not read the rules of private boards."""
        return self._token is not None

    async def headers(self) -> dict[str, str]:
        """What shows the key, or a token that is asked for each time."""
        shown = self._key
        if callable(self._token):
            made = self._token()
            shown = _check_token(await made if isawaitable(made) else made)
        elif self._token is not None:
            shown = self._token
        return {} if shown is None else {"authorization": f"Bearer {shown}"}


def _check_token(token: object) -> str:
    if isinstance(token, str) and _TOKEN.fullmatch(token):
        return token
    raise Invalid("token", "must be a JSON Web Token, as text without spaces")


def _parse_url(given: object) -> tuple[str, str, bool]:
    """The address without a slash at its end, its host, and whether it is encrypted.

    >>> _parse_url("https://scores.example/eu/")
    ('https://scores.example/eu', 'scores.example', True)
    """
    url = parse_text(given, "url")
    try:
        parts = urlsplit(url)
        port_is_known = parts.port is None or parts.port > 0
    except ValueError:
        raise Invalid("url", "is not a valid URL") from None
    if parts.username is not None or parts.password is not None:
        raise Invalid("url", "must not contain a user name or password; pass the key as key=")
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_known:
        raise Invalid("url", "must be like https://scores.example or http://127.0.0.1:8080")
    if parts.query or parts.fragment or not _URL.fullmatch(url):
        raise Invalid("url", "must be an address alone, in ASCII, without ?, # or spaces")
    if not all(1 <= len(label) <= 63 for label in parts.hostname.rstrip(".").split(".")):
        raise Invalid("url", "has an invalid host name")
    return url.rstrip("/"), parts.hostname, parts.scheme == "https"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
