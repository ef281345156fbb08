"""Where a service is, and the key that is shown to it."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from toprung.domain.values import parse_text
from toprung.errors import Invalid

_URL = re.compile(r"[!-~]{1,2048}", re.ASCII)
_KEY = re.compile(r"[!-~]{1,512}", re.ASCII)


class Address:
    """The address of a service and the key for it; the key is in no text made of this."""

    __slots__ = ("_key", "is_local", "url")

    def __init__(self, url: str, key: str | None = None, *, allow_insecure: bool = False) -> None:
        """A key is refused over plain HTTP, where anybody on the way could read it.

        Loopback addresses are fine; `allow_insecure` is for a network that is trusted.
        """
        self.url, host, is_encrypted = _parse_url(url)
        self.is_local = _is_loopback(host)
        if key is not None and not _KEY.fullmatch(key):
            raise Invalid("key", "must be a key as the service showed it, without spaces")
        if key is not None and not (is_encrypted or self.is_local or allow_insecure):
            raise Invalid(
                "url",
                f"{self.url} would carry the key unencrypted; use https, or allow_insecure=True"
                " where the network is trusted",
            )
        self._key = key

    def __repr__(self) -> str:
        return f"<Address {self.url!r}>"

    def headers(self) -> dict[str, str]:
        """What shows the key."""
        return {} if self._key is None else {"authorization": f"Bearer {self._key}"}


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
