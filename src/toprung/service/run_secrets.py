"""The secrets behind runs: a private file outside database and backups.

Whoever has a secret can sign any score, and whoever restores a backup elsewhere should not get it
along. Each line of the file is a secret: its id, its value, and since when new runs are of it. The
file is looked at once a second at most, so a new secret comes into force a little later than it is
written: by then every process knows it. An old one stays until its last runs have expired.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import stat
from pathlib import Path
from typing import Final

from toprung.domain.instant import SECOND, instant_text, parse_instant
from toprung.domain.trust.run_rule import RUN_SECONDS_MAX
from toprung.domain.trust.runs import NO_SECRETS, SECRET_BYTES, Secret, SecretRing
from toprung.errors import Invalid, RunsUnavailable
from toprung.files import create, sync_folder
from toprung.ports import Clock
from toprung.waiting.threads import in_thread

FILE_BYTES_MAX: Final = 16 * 1024
LOOK_AFTER: Final = SECOND
FORCE_AFTER: Final = 10 * SECOND
"""How long after it is written a further secret is in force."""

_log = logging.getLogger("toprung")
_ID_BYTES: Final = 4
_LINE: Final = re.compile(r"([0-9a-f]{8}) ([0-9a-f]{64}) (\S{1,40})", re.ASCII)
_HEADING: Final = (
    "# Secrets of runs: whoever can read this can sign any score. Keep it out of backups.\n"
    "# id, secret, since when it is in force; `toprung runs rotate` adds one.\n"
)


class RunSecrets:
    """The secrets that a process knows, as its file has them."""

    def __init__(self, path: str | None, clock: Clock, *, makes: bool) -> None:
        """Without a path secrets are gone with the process. `makes`: a missing one is made."""
        self._path = None if path is None else Path(path)
        self._clock = clock
        self._makes = makes
        self._ring = NO_SECRETS
        self._looked_at: int | None = None
        self._seen: tuple[int, ...] | None = None
        """What tells whether the file has changed."""

    async def ring(self, *, wanted: bool = False) -> SecretRing:
        """The secrets as they are now; `wanted`: to start a run, so there must be one."""
        now = self._clock.now()
        is_due = self._looked_at is None or abs(now - self._looked_at) >= LOOK_AFTER
        if self._path is None:
            if wanted and self._makes and self._ring is NO_SECRETS:
                self._ring = SecretRing([new_secret(now)])
        elif is_due or (wanted and self._seen is None):
            path = self._path
            await in_thread(lambda: self._look(path, now, makes=wanted and self._makes))
        if wanted and self._ring is NO_SECRETS:
            raise RunsUnavailable
        return self._ring

    def _look(self, path: Path, now: int, *, makes: bool) -> None:
        try:
            if makes and not path.exists():
                _make(path, [new_secret(now)])
            found = path.stat()
            seen = (found.st_mtime_ns, found.st_size, found.st_ino)
            if seen != self._seen:
                self._ring, self._seen = SecretRing(read_secrets(path)), seen
        except FileNotFoundError:
            self._ring, self._seen = NO_SECRETS, None
        except (OSError, RunsUnavailable) as error:
            _log.warning("the secrets of runs cannot be read: %s", error)
            if self._ring is NO_SECRETS:
                raise RunsUnavailable from error
        self._looked_at = now


def new_secret(since: int) -> Secret:
    """A secret that nobody can guess."""
    return Secret(secrets.token_bytes(_ID_BYTES), secrets.token_bytes(SECRET_BYTES), since)


def read_secrets(path: Path) -> list[Secret]:
    """The secrets in a file, which must not be everybody's."""
    with path.open("rb") as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & stat.S_IRWXO:
            raise RunsUnavailable(f"{str(path)!r} is open to everybody on this machine: chmod 600")
        text = file.read(FILE_BYTES_MAX + 1)
    if len(text) > FILE_BYTES_MAX:
        raise RunsUnavailable(f"{str(path)!r} has more than {FILE_BYTES_MAX:,} bytes")
    lines = enumerate(text.decode("ascii", "replace").splitlines(), 1)
    return [_secret(path, at, line) for at, line in lines if line and not line.startswith("#")]


def rotate(path: Path, now: int) -> tuple[Secret, int]:
    """Add a secret to a file, which is made if there is none; the secret, and how many are left.

    Those go whose last runs have expired.
    """
    try:
        found = sorted(read_secrets(path), key=lambda each: each.since)
    except FileNotFoundError:
        first = new_secret(now)
        _make(path, [first])
        return first, 1
    added = new_secret(now + FORCE_AFTER)
    ends = [each.since + RUN_SECONDS_MAX * SECOND for each in (*found[1:], added)]
    kept = [each for each, end in zip(found, ends, strict=True) if end >= now]
    beside = _written(path, [*kept, added])
    os.replace(beside, path)  # noqa: PTH105 -- both are paths of this folder
    sync_folder(path.parent)
    return added, len(kept) + 1


def _secret(path: Path, at: int, line: str) -> Secret:
    found = _LINE.fullmatch(line.strip())
    try:
        if found is not None:
            since = parse_instant(found[3], "since")
            return Secret(bytes.fromhex(found[1]), bytes.fromhex(found[2]), since)
    except Invalid:
        pass
    raise RunsUnavailable(f"{str(path)!r}, line {at}: is not an id, a secret and a time")


def _make(path: Path, some: list[Secret]) -> None:
    """A new file; where another process was quicker, its file stays."""
    beside = _written(path, some)
    try:
        os.link(beside, path)
        sync_folder(path.parent)
    except FileExistsError:
        pass
    finally:
        beside.unlink()


def _written(path: Path, some: list[Secret]) -> Path:
    """A private file beside the real one."""
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    lines = [f"{each.id.hex()} {each.value.hex()} {instant_text(each.since)}\n" for each in some]
    with create(beside) as file:
        file.write((_HEADING + "".join(lines)).encode())
        file.flush()
        os.fsync(file.fileno())
    return beside
