"""Where archives are: a directory, or an object store, by its URL.

Files are created once and never changed. `obstore` reaches all stores alike; for a directory, what
was written is also forced to the disk, for the catalogue says afterwards that it is there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import SEEK_CUR, SEEK_END, SEEK_SET, RawIOBase
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from toprung.archives.format import load_pyarrow
from toprung.errors import ArchiveDamaged, ArchiveGone, ArchiveUnavailable, Invalid, MissingExtra

SCHEMES: Final = ("file", "s3", "gs", "az")
READ_BYTES: Final = 1 << 20
SECONDS_MAX: Final = "30s"
"""For a request to an object store."""


class Written(NamedTuple):
    """A file as it is in the store."""

    name: str
    bytes: int
    sha256: str


def parse_location(location: str) -> str:
    """The URL of a store; a path is that of a directory.

    >>> parse_location("ftp://example.org/archive")
    Traceback (most recent call last):
    toprung.errors.Invalid: archive: must be a directory, or a URL with file://, s3://, gs:// or az://
    """
    scheme, separator, _ = location.partition("://")
    if not separator:
        return Path(location).absolute().as_uri()
    if scheme not in SCHEMES:
        raise Invalid(
            "archive", "must be a directory, or a URL with file://, s3://, gs:// or az://"
        )
    url = urlsplit(location)
    if scheme == "file" and (url.netloc or url.query or url.fragment):
        raise Invalid("archive", "must be file:/// and a path, without a host, ? or #")
    return location


class ArchiveFilesAt:
    """The files of one store."""

    def __init__(self, location: str) -> None:
        self.url = parse_location(location)
        self._root = Path(unquote(urlsplit(self.url).path)) if self.is_local else None
        try:
            import obstore
            import obstore.store
        except ImportError:
            raise MissingExtra("archive") from None
        load_pyarrow()
        self._obstore = obstore
        if self._root is not None:
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._store: Any = obstore.store.LocalStore(str(self._root))
        else:
            options: dict[str, Any] = {"timeout": SECONDS_MAX, "allow_http": _allows_http()}
            retries: dict[str, Any] = {"max_retries": 2}
            from_url: Any = obstore.store.from_url
            self._store = from_url(self.url, client_options=options, retry_config=retries)

    @property
    def is_local(self) -> bool:
        """Whether it is a directory of this machine."""
        return self.url.startswith("file://")

    def create(self, name: str, source: Path) -> Written:
        """Copy a file there, unless the same is there already; `FileExistsError` if another is."""
        size, sha256 = source.stat().st_size, sha256_of(source)
        with self._reaching(name):
            try:
                self._obstore.put(self._store, name, source, mode="create", use_multipart=False)
            except self._obstore.exceptions.AlreadyExistsError:
                if self._sha256(name) != sha256:
                    raise FileExistsError(name) from None
        self._force(name)
        return Written(name, size, sha256)

    def _sha256(self, name: str) -> str:
        found = hashlib.sha256()
        for piece in self._obstore.get(self._store, name).stream(min_chunk_size=READ_BYTES):
            found.update(piece)
        return found.hexdigest()

    def _force(self, name: str) -> None:
        """Have the disk confirm a file and the directories that lead to it."""
        if self._root is None:
            return
        path = self._root / name
        for each in (path, *path.parents):
            descriptor = os.open(each, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if each == self._root:
                return

    def open(self, name: str) -> Any:
        """A file to read, as `pyarrow` takes it."""
        pyarrow, _, _ = load_pyarrow()
        with self._reaching(name):
            if self._root is not None:
                return pyarrow.memory_map(str(self._root / name))
            return pyarrow.PythonFile(_ObjectFile(self._obstore, self._store, name), mode="r")

    def check(self, written: Written) -> None:
        """Read a whole file and compare it with what was written; raise what is wrong with it."""
        with self._reaching(written.name):
            if self._sha256(written.name) != written.sha256:
                raise ArchiveDamaged(f"{written.name!r} is not what was written")

    def copy_to(self, name: str, target: Path) -> None:
        """Write a copy of a file to a new one of this machine."""
        with self._reaching(name):
            found = self._obstore.get(self._store, name)
            with target.open("xb") as copy:
                try:
                    for piece in found.stream(min_chunk_size=READ_BYTES):
                        copy.write(piece)
                except BaseException:
                    target.unlink()
                    raise

    def names(self, start: str) -> list[str]:
        """The names of files that begin with a text.

        Of a directory everything is listed; object stores do so in order, from there on.
        """
        folder, _, _ = start.rpartition("/")
        found: list[str] = []
        with self._reaching(start):
            offset = None if self.is_local else start
            for page in self._obstore.list(self._store, prefix=folder or None, offset=offset):
                paths = [each["path"] for each in page]
                found += [path for path in paths if path.startswith(start)]
                if offset is not None and paths and not paths[-1].startswith(start):
                    break
        return found

    def text(self, name: str) -> bytes | None:
        """A small file; None if there is none."""
        with self._reaching(name):
            try:
                return bytes(self._obstore.get(self._store, name).bytes())
            except FileNotFoundError:
                return None

    def put_text(self, name: str, text: bytes, *, overwrites: bool) -> bool:
        """Write a small file; whether that was done: not if there is one, unless it overwrites."""
        with self._reaching(name):
            try:
                mode: Any = "overwrite" if overwrites else "create"
                self._obstore.put(self._store, name, text, mode=mode, use_multipart=False)
            except self._obstore.exceptions.AlreadyExistsError:
                return False
        self._force(name)
        return True

    def delete(self, name: str) -> None:
        """Delete a file; harmless if there is none."""
        with self._reaching(name), suppress(FileNotFoundError):
            self._obstore.delete(self._store, name)

    @contextmanager
    def reaching(self, name: str) -> Iterator[None]:
        """Say what is wrong with a store or a file, in words that do not tell where it is."""
        with self._reaching(name):
            yield

    @contextmanager
    def _reaching(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise ArchiveGone(f"{name!r} is not in the store of archives") from error
        except FileExistsError:
            raise
        except (OSError, self._obstore.exceptions.BaseError) as error:
            raise ArchiveUnavailable(
                f"the store of archives cannot be used: {type(error).__name__}"
            ) from error


class _ObjectFile(RawIOBase):
    """An object as a file: each read is a request for a range."""

    def __init__(self, obstore: Any, store: Any, name: str) -> None:
        super().__init__()
        self._obstore, self._store, self._name = obstore, store, name
        self._size: int = obstore.head(store, name)["size"]
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        begin = {SEEK_SET: 0, SEEK_CUR: self._at, SEEK_END: self._size}[whence]
        self._at = max(0, begin + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self._size if size < 0 else min(self._size, self._at + size)
        if end <= self._at:
            return b""
        start, self._at = self._at, end
        return bytes(self._obstore.get_range(self._store, self._name, start=start, end=end))


def sha256_of(path: Path) -> str:
    """The hash of a file of this machine."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _allows_http() -> bool:
    """Whether a store may be reached without TLS: only where the environment names such a one."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL") or os.environ.get("AWS_ENDPOINT") or ""
    return endpoint.startswith("http://")
