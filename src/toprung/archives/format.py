"""What is in the files of an archive.

The file of *entries* has a row for each entry of a period: the ladders in the order of the UTF-8
bytes of their scopes, each best first. Its footer says, under the key ``toprung``, what the period
is and where each ladder begins (`Footer`). Any program that reads Parquet can use it.

The file of the *index* has a row for each of them, too, in the order of players: the player's
number, and the row of the entry. Its row groups are found by the first number of each.

Rows are written in groups of `GROUP_ROWS`, the unit of reading. So that a place in the order is
found by reading one group, the footer has the first row of each: its *fence*.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import import_module
from itertools import accumulate
from typing import Any, Final

import msgspec

from toprung.domain.board import Board
from toprung.domain.events import PeriodName
from toprung.domain.sortkey import RecordShape
from toprung.errors import ArchiveDamaged, MissingExtra

GROUP_ROWS: Final = 16_384
FORMAT: Final = 1
FOOTER_KEY: Final = b"toprung"

ENTRY_COLUMNS: Final = (
    "scope",
    "rank",
    "competition_rank",
    "dense_rank",
    "player",
    "player_number",
    "score",
    "subscore",
    "achieved_at",
    "version",
)
"""`score` is an integer, times ten for each decimal of the board; `player` is null once erased."""

INDEX_COLUMNS: Final = ("player_number", "row")


class Fences(msgspec.Struct, frozen=True):
    """The first row of each row group."""

    records: list[bytes]
    players: list[bytes]
    """Of a player who was erased: the one before, if the records are ordered alike."""
    competition_ranks: list[int]


class LadderSpan(msgspec.Struct, frozen=True, array_like=True):
    """A ladder in the file of entries."""

    scope: str
    entries: int


class Footer(msgspec.Struct, frozen=True, kw_only=True):
    """What the file of entries says of itself."""

    format: int
    board: str
    generation: int
    window: str
    period: str
    opens_at: int | None
    closes_at: int
    rules: dict[str, Any]
    """Of the board, when the archive was written."""
    digest: str
    """Of all entries: docs/how-to/seasons.md says how to compute it."""
    ladders: list[LadderSpan]
    fences: Fences

    def starts(self) -> list[int]:
        """The first row of each ladder, and the end of the last."""
        return list(accumulate((each.entries for each in self.ladders), initial=0))


def parquet_footer(file: Any) -> bytes:
    """The end of a Parquet file: where everything is in it, and its key-value pairs.

    >>> pyarrow, _, _ = load_pyarrow()
    >>> parquet_footer(pyarrow.BufferReader(b"PAR1 entries footer" + bytes([6, 0, 0, 0]) + b"PAR1"))
    b'footer\\x06\\x00\\x00\\x00PAR1'
    """
    size = file.size()
    length = int.from_bytes(file.read_at(4, max(0, size - 8)), "little") + 8
    return b"" if length > size else bytes(file.read_at(length, size - length))


def footers_sha256(entries: bytes, index: bytes) -> str:
    """The hash of the footers of both files."""
    return hashlib.sha256(entries + index).hexdigest()


def footer_bytes(footer: Footer) -> bytes:
    """A footer as it is written: JSON, where bytes are Base64."""
    return msgspec.json.encode(footer)


def read_footer(metadata: dict[bytes, bytes] | None, name: str) -> Footer:
    """The footer of a file of entries."""
    try:
        footer = msgspec.json.decode((metadata or {})[FOOTER_KEY], type=Footer)
    except (KeyError, msgspec.DecodeError) as error:
        raise ArchiveDamaged(f"{name!r} is not an archive of Toprung, or it is damaged") from error
    if footer.format > FORMAT:
        raise ArchiveDamaged(
            f"{name!r} is an archive of format {footer.format}, which a newer version of Toprung"
            " wrote: update this one"
        )
    return footer


def footer_board(footer: Footer) -> Board:
    """The board with the rules that the entries follow."""
    return Board.read(footer.board, footer.rules).recorded(0, footer.generation)


def footer_shape(footer: Footer) -> RecordShape:
    """How the entries are ordered."""
    return footer_board(footer).shape


def file_names(generation: int, board: str, period: PeriodName, digest: str) -> tuple[str, str]:
    """The names of both files in a store; other entries have another name.

    >>> file_names(17, "blitz", ("daily", "2026-11-15"), "f300f60b6689e113")
    ('blitz-11/daily/2026-11-15.f300f60b6689.parquet', \
'blitz-11/daily/2026-11-15.f300f60b6689.players.parquet')
    """
    window, period_id = period
    folder = board_folder(generation, board)
    start = f"{folder}/{_plain(window)}/{_plain(period_id)}.{digest[:12]}"
    return f"{start}.parquet", f"{start}.players.parquet"


def board_folder(generation: int, board: str) -> str:
    """Where all files of a board are."""
    return f"{board}-{generation:x}"


def start_of(name: str) -> str:
    """What the names of all files of a period begin with.

    >>> start_of("blitz-11/daily/2026-11-15.f300f60b6689.parquet")
    'blitz-11/daily/2026-11-15.'
    """
    folder, _, file = name.rpartition("/")
    digest_at = re.search(r"\.[0-9a-f]{12}\.", file)
    return f"{folder}/{file[: digest_at.start() + 1] if digest_at else file}"


def _plain(text: str) -> str:
    return "".join(each if each.isalnum() or each in "-_.+" else "_" for each in text)


@cache
def load_pyarrow() -> tuple[Any, ...]:
    """The modules `pyarrow`, `pyarrow.parquet` and `pyarrow.compute`."""
    try:
        return tuple(map(import_module, ("pyarrow", "pyarrow.parquet", "pyarrow.compute")))
    except ImportError:
        raise MissingExtra("archive") from None
