"""The checks of a running service: whether it answers, is ready, and agrees on what time it is."""

from __future__ import annotations

import email.utils
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Final, NamedTuple

from toprung.doctor import CHECK_THE_TIME, SKEW_SECONDS_MAX, Check, background_check, verdict
from toprung.errors import ToprungError

TIMEOUT_SECONDS: Final = 10
ANSWER_BYTES_MAX: Final = 8 * 1024 * 1024


def examine_service(url: str, key: str | None, now: Callable[[], float] = time.time) -> list[Check]:
    """Ask a service how it is; never raises because of what it finds."""
    if not url.startswith(("http://", "https://")):
        return [Check("reachable", False, f"{url}: --url must begin with http:// or https://")]
    return list(_checks(url.rstrip("/"), key, now))


class _Reply(NamedTuple):
    status: int
    body: bytes
    date: str | None


def _checks(url: str, key: str | None, now: Callable[[], float]) -> Iterator[Check]:
    try:
        health = _ask(f"{url}/healthz")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        yield Check("reachable", False, f"{url}: {reason}; check --url and that the service runs")
        return
    yield verdict(
        "reachable",
        health.status == 200,
        "answers",
        f"{url}/healthz returned {health.status}: is this a Toprung service?",
    )
    if health.status != 200:
        return
    yield _version(url)
    ready = _ask(f"{url}/readyz")
    yield verdict(
        "ready",
        ready.status == 200,
        "can answer",
        f"/readyz returned {ready.status}: {_faults(ready.body)}",
    )
    yield _clock(ready.date, now())
    yield _clock_jump(ready.body)
    yield _background(ready.body)
    yield _access(url, key)


def _ask(url: str) -> _Reply:
    request = urllib.request.Request(url)  # noqa: S310 -- the person named it
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as reply:  # noqa: S310
            return _Reply(reply.status, reply.read(ANSWER_BYTES_MAX), reply.headers["date"])
    except urllib.error.HTTPError as error:
        with error:
            return _Reply(error.code, error.read(ANSWER_BYTES_MAX), error.headers["date"])


def _faults(body: bytes) -> str:
    """What a service that is not ready says of itself."""
    faults = (f"{name}: {said}" for name, said in _told(body).items() if said != "ok")
    return "; ".join(faults) or "check its log"


def _told(body: bytes) -> dict[str, str]:
    """The checks that /readyz names."""
    try:
        return {str(name): str(said) for name, said in json.loads(body)["checks"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _version(url: str) -> Check:
    ours = metadata.version("toprung")
    try:
        theirs = str(json.loads(_ask(f"{url}/openapi.json").body)["info"]["version"])
    except (ValueError, KeyError, TypeError):
        return Check("version", False, f"{url} does not report its version: upgrade the service")
    return verdict(
        "version",
        theirs == ours,
        ours,
        f"the service is {theirs}, this program {ours}: use the same version on both sides",
    )


def _clock(date: str | None, now: float) -> Check:
    if date is None:
        return Check("clock", True, "not reported")
    # The header counts whole seconds, so up to one of them is no difference.
    skew = max(0.0, abs(now - email.utils.parsedate_to_datetime(date).timestamp()) - 1)
    return verdict(
        "clock",
        skew <= SKEW_SECONDS_MAX,
        "agrees",
        f"differs by {skew:.0f} s from this machine's: synchronise both with a time server",
    )


def _clock_jump(body: bytes) -> Check:
    """Whether the service's own clock is off the time that it expects."""
    said = _told(body).get("clock", "not reported")
    if said in ("ok", "not reported"):
        return Check("clock jump", True, "none" if said == "ok" else said)
    return Check("clock jump", False, " ".join(f"{said}: {CHECK_THE_TIME}".split()))


def _background(body: bytes) -> Check:
    """Whether what runs in the background needs attention."""
    said = _told(body).get("background", "ok")
    return background_check([] if said == "ok" else [said])


def _access(url: str, key: str | None) -> Check:
    from toprung.client import connect

    try:
        with connect(url, key) as boards:
            boards.list(limit=1)
    except ToprungError as error:
        return Check("access", False, f"{error}; pass a key with --key or TOPRUNG_KEY")
    return Check("access", True, "can read")
