"""The key that signs the audit log: a file that only its owner may read.

It is made when it is first needed, beside the database or where settings say; it is in no database
and in no backup. Processes that share it may make it at the same time: the first one wins.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from toprung.domain.trust.merkle import HASH_BYTES
from toprung.domain.trust.notes import Verifier, parse_private, private_text
from toprung.errors import Invalid, LogUnavailable, MissingExtra
from toprung.files import create, sync_folder
from toprung.ports.log_signer import LogSigner

KEY_BYTES_MAX: Final = 4096
_NO_PLACE: Final = (
    "no key signs the audit log here: set log_key (TOPRUNG_LOG_KEY) to a file that all processes"
    " read"
)


class LogKeyFile:
    """The key in a file; in memory if the path is empty, and nowhere if it is None."""

    def __init__(
        self,
        path: str | None,
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> None:
        self._path = path
        self._in_thread = in_thread
        self._loaded: tuple[Verifier, Any] | None = None

    async def verifier(self) -> Verifier:
        """Its public part."""
        return (await self._key())[0]

    async def sign(self, message: bytes) -> bytes:
        """The signature of a message: 50 microseconds."""
        signature: bytes = (await self._key())[1].sign(message)
        return signature

    async def _key(self) -> tuple[Verifier, Any]:
        if self._loaded is None:
            self._loaded = await self._in_thread(self._load)
        assert self._loaded is not None
        return self._loaded

    def _load(self) -> tuple[Verifier, Any]:
        if self._path is None:
            raise LogUnavailable(_NO_PLACE)
        try:
            ed25519 = _ed25519()
        except MissingExtra as error:
            raise LogUnavailable(error.detail) from None
        if not self._path:
            name, seed = _new_name(), secrets.token_bytes(HASH_BYTES)
        else:
            try:
                name, seed = _read(self._path) or _make(self._path, ed25519)
            except OSError as error:
                raise LogUnavailable(f"its key cannot be used: {error}") from error
        private = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
        return Verifier(name, private.public_key().public_bytes_raw()), private


def _read(path: str) -> tuple[str, bytes] | None:
    """Name and seed; None if there is no file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise PermissionError(f"others may read {path}; only you should: chmod 600 {path}")
        text = file.read(KEY_BYTES_MAX)
    try:
        return parse_private(text.decode("ascii", "replace"))
    except Invalid as error:
        raise OSError(f"{path} {error.detail}") from None


def _make(path: str, ed25519: Any) -> tuple[str, bytes]:
    """A new key; or that of a process that was quicker."""
    name, seed = _new_name(), secrets.token_bytes(HASH_BYTES)
    private = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
    verifier = Verifier(name, private.public_key().public_bytes_raw())
    new = f"{path}.{secrets.token_hex(4)}"
    try:
        with create(new) as file:
            file.write(private_text(verifier, seed).encode())
            file.flush()
            os.fsync(file.fileno())
        os.link(new, path)
    except FileExistsError:
        return _read(path) or (name, seed)
    finally:
        Path(new).unlink(missing_ok=True)
    sync_folder(Path(path).resolve().parent)
    return name, seed


def _new_name() -> str:
    """Of a new log: a name that no other has."""
    return f"toprung/{secrets.token_hex(8)}"


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingExtra("audit") from None
    return ed25519


def checks(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a public key made a signature of a message."""
    ed25519 = _ed25519()
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except Exception:  # noqa: BLE001 -- whatever is wrong with it
        return False
    return True


_: type[LogSigner] = LogKeyFile
