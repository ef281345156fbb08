"""The native core: a player table and counted B+ trees over fixed-width records.

Vocabulary. A *record* is ``words`` big-endian unsigned 64-bit words (``8 * words`` bytes). Its
first ``order`` words are the *key*: a set is ordered by key, then by the player id's bytes. Its
first ``tied`` words are the *tied prefix*: entries with equal prefixes are tied. Words after the
key are carried, never compared. An *offset* is 0-based. Players are named by number (``int``) or
by id (``str`` or ``bytes``).

One mutex per PlayerTable covers the table and every set over it; batch calls release the GIL
while they hold it. Docstrings (with complexities and doctests) live in ``native/docstrings.hpp``.
"""

from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias, TypeVar, final

from typing_extensions import Buffer

_T = TypeVar("_T")

ID_BYTES_MAX: int  # 256

@final
class PlayerTable:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...  # ids that are present (forgotten ones are not)
    def intern(self, id: str | bytes, /) -> int: ...
    def intern_many(self, ids: Sequence[str | bytes], /) -> bytes: ...  # packed native u32
    def number(self, id: str | bytes, /) -> int | None: ...
    def numbers(self, ids: Sequence[str | bytes], /) -> bytes: ...  # packed u32; ABSENT = 2**32-1
    def id(self, number: int, /) -> bytes | None: ...  # None when forgotten
    # of packed i64 numbers: packed i32 offsets (one more) and all ids; a forgotten one is empty
    def ids(self, numbers: Buffer, /) -> tuple[bytes, bytes]: ...
    # wipes the id; the number is never given again
    def forget(self, number: int, /, *, is_off_all_sets: bool = False) -> None: ...
    def truncate(self, limit: int, /) -> None: ...  # takes back numbers >= limit
    @property
    def limit(self) -> int: ...  # the next number to be given
    @property
    def nbytes(self) -> int: ...
    def dump(self) -> bytes: ...
    @staticmethod
    def load(dump: Buffer, /) -> PlayerTable: ...
    def _check(self) -> None: ...

# offset, number of entries before the tie group, distinct prefixes before it, number of entries
# before its end, size, record
Place: TypeAlias = tuple[int, int, int, int, int, bytes]
# number, id, record
Row: TypeAlias = tuple[int, bytes, bytes]
# start offset, size of the set, entries before the first row's tie group, distinct prefixes before
# the first row's tie group, rows, entries before the end of the last row's tie group
Slice: TypeAlias = tuple[int, int, int, int, list[Row], int]

@final
class RankedSet:
    def __init__(
        self, players: PlayerTable, *, words: int = 2, order: int | None = None, tied: int = 1
    ) -> None: ...
    def __len__(self) -> int: ...
    def __contains__(self, player: object, /) -> bool: ...
    # one at a time
    def put(self, player: int | str | bytes, record: bytes, /) -> bytes | None: ...
    def remove(self, player: int | str | bytes, /) -> bytes | None: ...
    def find(self, player: int | str | bytes, /) -> bytes | None: ...
    def offset(self, player: int | str | bytes, /) -> int | None: ...
    def place(self, player: int | str | bytes, /) -> Place | None: ...
    def at(self, offset: int, /) -> Row: ...  # IndexError
    def count_before(self, key: bytes, id: bytes = b"", /) -> int: ...  # a short key is a prefix
    def counts_before(self, keys: Sequence[bytes], /) -> list[int]: ...  # at one moment
    def distinct_before(self, key: bytes, /) -> int: ...  # distinct tied prefixes < key's
    # stretches of rows, each one consistent
    def slice(self, start: int, stop: int, /) -> Slice: ...
    # packed i64 numbers, and the records one after the other
    def export(self, start: int, stop: int, /) -> tuple[bytes, bytes]: ...
    def fingerprint(self, stop: int, /) -> bytes: ...  # equal for equal first rows and sizes
    def slice_around(
        self, player: int | str | bytes, above: int, below: int, /
    ) -> Slice | None: ...
    def slice_at(
        self, key: bytes, id: bytes, above: int, below: int, *, full: bool = False
    ) -> Slice: ...
    # batches
    def offsets(self, players: Sequence[int | str | bytes] | Buffer, /) -> bytes: ...
    def places(self, players: Sequence[int | str | bytes] | Buffer, /) -> list[Place | None]: ...
    # how many are present, how many of those are no worse than the last of the best, and
    # (id, place) of the best `count` of them, best first
    def best_of(
        self, numbers: Buffer, count: int, /
    ) -> tuple[int, int, list[tuple[bytes, Place]]]: ...
    def put_many(self, numbers: Buffer, records: Buffer, /) -> None: ...
    def remove_many(self, numbers: Buffer, /) -> int: ...
    def build(self, numbers: Buffer, records: Buffer, /) -> None: ...  # an empty set; any order
    def clear(self) -> None: ...
    def dump(self) -> bytes: ...
    # players as packed u32, a bit for each (lowest first) that begins a tie group, the first words
    # of the tie groups as packed u64
    def ordered(self) -> tuple[bytes, bytes, bytes]: ...
    @staticmethod
    def load(players: PlayerTable, dump: Buffer, /) -> RankedSet: ...
    @property
    def words(self) -> int: ...
    @property
    def order(self) -> int: ...
    @property
    def tied(self) -> int: ...
    @property
    def players(self) -> PlayerTable: ...
    @property
    def nbytes(self) -> int: ...
    def _check(self) -> None: ...

@final
class Merge:
    """A batch of submissions folded over sets, not yet visible; ``apply`` makes it so."""

    UNCHANGED: int  # 0
    ACCEPTED: int  # 1
    OVERFLOW: int  # 2, refused: the sum leaves int64
    EXCESSIVE: int  # 3, refused: improves by more than max_increase
    REPEATED: int  # 4, an earlier row got hold of its claim
    HASTY: int  # 5, refused: improves faster than max_per
    SUSPECT: int  # 6, improves the guard's record to the row's limit or beyond: it does nothing
    CROWDED: int  # 7, refused: suspect, and there is no room

    def __init__(
        self,
        rule: Literal["keep-better", "replace", "add"],
        routes: Sequence[Sequence[RankedSet]],
        rows: Buffer,
        *,
        first_version: int,
        descending: int = 1,
        last_wins: bool = False,
        max_increase: int | None = None,
        watched: Sequence[Sequence[int]] | None = None,  # for each route, indexes of its sets
        guards: Sequence[RankedSet | None] | None = None,  # by route; else its first
        claims: Buffer | None = None,  # packed i64, for each row a number below that of rows, or -1
        max_per: tuple[int, int] | None = None,  # an amount, and microseconds
        limits: Buffer | None = None,  # packed i64, two for each row: whether it has one, and which
        room: int = 0,  # for rows that are suspect
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def statuses(self) -> bytes: ...
    @property
    def versions(self) -> bytes: ...  # packed i64, 0 where refused or repeated
    @property
    def led_to(self) -> bytes: ...  # packed i64: the guard's score after rows that are suspect
    def changes(self, row: int, /) -> list[tuple[bytes | None, bytes]]: ...
    # for each watched set: score after and before the row, what lies before the player (entries,
    # entries before the tie group, distinct prefixes) until the batch and since it, size
    def outcomes(
        self, row: int, /
    ) -> list[
        tuple[int, int | None, tuple[int, int, int] | None, tuple[int, int, int] | None, int]
    ]: ...
    def apply(self) -> int: ...  # entries written

@final
class PositionMap:
    """For each player a position in the journal."""

    def __init__(self, players: PlayerTable) -> None: ...
    def __len__(self) -> int: ...
    def find(self, number: int, /) -> int | None: ...
    # packed u32 numbers and i64 positions; packed i64, 0 for none
    def previous(self, numbers: Buffer, positions: Buffer, /) -> bytes: ...
    def put_many(self, numbers: Buffer, positions: Buffer, /) -> bytes: ...  # u32: who is new
    def forget(self, number: int, /) -> None: ...
    def items(self) -> tuple[bytes, bytes]: ...
    @property
    def nbytes(self) -> int: ...

@final
class PlayerLists:
    """For each player a few small numbers."""

    def __init__(self, players: PlayerTable) -> None: ...
    def find(self, number: int, /) -> bytes: ...  # packed u32, the newest first
    def add(self, item: int, numbers: Buffer, /) -> None: ...
    def remove(self, item: int, numbers: Buffer, /) -> None: ...
    def forget(self, number: int, /) -> None: ...
    @property
    def nbytes(self) -> int: ...

@final
class RecordReader:
    """What records say, where a record is its tied words, a time and a version."""

    def __init__(self, *, tied: int = 1, descending: int = 1, last_wins: bool = False) -> None: ...
    # score, subscore (None where one word is tied), time, version
    def read(self, record: bytes, /) -> tuple[int, int | None, datetime, int]: ...
    # packed i64 scores, subscores (0 where there is none), times in microseconds, versions
    def columns(self, records: Buffer, /) -> tuple[bytes, bytes, bytes, bytes]: ...
    def pack(
        self, scores: Buffer, subscores: Buffer, times: Buffer, versions: Buffer, /
    ) -> bytes: ...  # records
    # of each row number, score, subscore or 0, time, version as big-endian i64
    def digest_rows(self, numbers: Buffer, records: Buffer, /) -> bytes: ...

@final
class RankColumns:
    """Ranks of all rows of a ladder, which come in its order, a few at a time."""

    def __init__(self, tied: int, words: int) -> None: ...
    # packed i64 competition ranks and dense ranks, from 1
    def add(self, records: Buffer, /) -> tuple[bytes, bytes]: ...

@final
class BestCards:
    """Cards of players on a board where the best result counts, while a batch is decided."""

    def __init__(
        self,
        cards: Sequence[bytes | None],
        *,
        tied: int,
        descending: int,
        last_wins: bool,
    ) -> None: ...
    # a status for each, and for each the scores after and before at every stop
    def decide(
        self,
        submissions: Sequence[Any],
        cards_of: dict[str, int],
        positions: Sequence[int],
        stops: Sequence[bytes],
        tells: bool,
    ) -> tuple[bytes, list[list[tuple[int, int | None]]] | None]: ...
    def changed(self) -> list[tuple[int, int, bytes]]: ...  # index, version, entries
    def periods(self) -> set[bytes]: ...

@final
class CardMoves:
    """What new cards change on ladders, as the arguments of a script."""

    def __init__(self, *, words: int, order: int, packs: bool) -> None: ...
    # whether it was done, members that leave and enter, stops that are new
    def add(
        self, id: str, version: int, entries: bytes, since: int, before: bytes, most: int, /
    ) -> tuple[bool, int, int]: ...
    def ask(
        self,
        id: str,
        periods: Sequence[bytes],
        before: bytes,
        after: bytes,
        counted: int,
        by_member: bool,
        /,
    ) -> None: ...
    # cards, places, then stop, greatest version, members that leave, members that enter of each
    def arguments(self) -> list[bytes]: ...
    @property
    def nbytes(self) -> int: ...

@final
class CardColumns:
    """Entries of some periods on many cards, gathered by stop."""

    def __init__(self, *, words: int, periods: Sequence[bytes]) -> None: ...
    def add(self, cards: Sequence[bytes], /) -> bytes: ...  # packed u32: indexes of chosen ones
    def stops(self) -> list[bytes]: ...  # 8 bytes each
    # packed u32 numbers of cards, in the order of their addition, and the records
    def gather(self, stops: Sequence[bytes], /) -> tuple[bytes, bytes]: ...

def card_periods(cards: Sequence[bytes], words: int) -> set[bytes]: ...
def pack_card(entries: bytes, words: int, version: int) -> bytes: ...

# hashes of 32 bytes, positions as packed native i64
def leaf_hashes(
    rows: bytes, routes: dict[int, bytes], tails: dict[int, bytes], others: list[tuple[int, bytes]]
) -> tuple[bytes, bytes]: ...
def tree_hash(hashes: bytes, /) -> bytes: ...
def sha256(data: bytes, /) -> bytes: ...
def _sha256_plain(data: bytes, /) -> bytes: ...  # for tests
def finish(
    coroutine: Coroutine[Any, Any, _T], otherwise: Callable[[Coroutine[Any, Any, _T], Any], _T], /
) -> _T: ...
def _fail_allocations_after(count: int, /) -> None: ...  # for tests; -1 ends it
