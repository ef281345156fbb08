"""Quotas: how much one board, or one owner of access keys, may take of what all of them share.

The rules are here, for both profiles; how much is in use, each profile counts in its own way. Only
new commands are judged: what was recorded once is never refused by a replay, a rebuild or a copy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from toprung.domain.idempotency import NOBODY, RUNS
from toprung.errors import Invalid, Overloaded, TooManyKeys, TooManyLadders, ToprungError

QuotaName = Literal["keys", "keys_per_board", "keys_per_owner", "scope_ladders"]
QUOTA_MAX: Final = 2**53
"""No quota can be greater."""


class Quotas(msgspec.Struct, frozen=True, kw_only=True):
    """The quotas of one profile."""

    keys: int
    """New idempotency keys within 24 hours, in all."""
    keys_per_board: int
    """Those of one board."""
    keys_per_owner: int
    """Those of one owner of access keys, on all boards."""
    scope_ladders: int
    """Ladders of one board, besides those of everybody: scope values in each period."""

    def changed(self, changes: Mapping[str, int] | None) -> Quotas:
        """These quotas, some of them replaced.

        >>> EMBEDDED_QUOTAS.changed({"keys_per_owner": 9_000_000}).keys_per_owner
        9000000
        """
        for name, value in (changes or {}).items():
            if name not in self.__struct_fields__:
                known = ", ".join(self.__struct_fields__)
                raise Invalid("quotas", f"there is no quota {name!r}; there are: {known}")
            if type(value) is not int or not 0 < value <= QUOTA_MAX:
                raise Invalid(f"quotas/{name}", f"must be a whole number from 1 to {QUOTA_MAX}")
        return msgspec.structs.replace(self, **(changes or {}))


EMBEDDED_QUOTAS: Final = Quotas(
    keys=16_000_000, keys_per_board=12_000_000, keys_per_owner=4_000_000, scope_ladders=250_000
)
"""In memory a key takes about 45 bytes, for up to 48 hours, and a ladder at least 2.5 KB."""

CLUSTER_QUOTAS: Final = Quotas(
    keys=1_600_000_000,
    keys_per_board=1_200_000_000,
    keys_per_owner=400_000_000,
    scope_ladders=1_000_000,
)
"""A hundred times as many keys, which are rows of a table; ladders are in Redis, and smaller."""


class Refusals(dict[str, int]):
    """How often each quota made somebody hear no."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(Quotas.__struct_fields__, 0))


class KeyUse:
    """How many new keys there are: in all, by board (its generation) and by owner."""

    __slots__ = ("boards", "owners", "total")

    def __init__(self) -> None:
        self.total = 0
        self.boards: dict[int, int] = {}
        self.owners: dict[str, int] = {}

    def note(self, generation: int, owner: str, count: int = 1) -> None:
        """Count keys that an owner has used on a board."""
        self.total += count
        self.boards[generation] = self.boards.get(generation, 0) + count
        self.owners[owner] = self.owners.get(owner, 0) + count


class KeyQuota:
    """Judges new idempotency keys.

    >>> quota = KeyQuota(EMBEDDED_QUOTAS.changed({"keys_per_owner": 1}), Refusals())
    >>> use, claimed = KeyUse(), KeyUse()
    >>> quota.refusal((use, claimed), 7, "studio", 60) is None
    True
    >>> claimed.note(7, "studio")
    >>> print(quota.refusal((use, claimed), 7, "studio", 60))
    the owner of this access key has used 1 idempotency keys within 24 hours, which is its quota; \
submit without a key, or try again later
    """

    def __init__(self, quotas: Quotas, refusals: Refusals) -> None:
        self._quotas = quotas
        self._refusals = refusals

    def refusal(
        self, uses: tuple[KeyUse, KeyUse], generation: int, owner: str, retry_seconds: int
    ) -> ToprungError | None:
        """Why one more key cannot be taken; None if it can.

        `uses` are the keys that are recorded and those that the present batch is going to record.
        Keys without an owner (of the library, or of a service without access keys) come from one
        program: among them there is nobody to be protected from another. Runs belong to players.
        """
        used, claimed = uses
        quotas = self._quotas
        if used.total + claimed.total >= quotas.keys:
            self._refusals["keys"] += 1
            return Overloaded(
                "too many idempotency keys within 24 hours; submit without a key or try later"
            )
        boards, owners = (used.boards, claimed.boards), (used.owners, claimed.owners)
        if sum(each.get(generation, 0) for each in boards) >= quotas.keys_per_board:
            return self._refuse("keys_per_board", "this board", retry_seconds)
        if owner not in (NOBODY, RUNS) and (
            sum(each.get(owner, 0) for each in owners) >= quotas.keys_per_owner
        ):
            return self._refuse("keys_per_owner", "the owner of this access key", retry_seconds)
        return None

    def _refuse(self, name: QuotaName, who: str, retry_seconds: int) -> TooManyKeys:
        self._refusals[name] += 1
        most = getattr(self._quotas, name)
        return TooManyKeys(
            f"{who} has used {most:,} idempotency keys within 24 hours, which is its quota; submit"
            " without a key, or try again later",
            retry_seconds,
        )


class LadderCounts(NamedTuple):
    """How many ladders of scopes there are."""

    total: int
    board_max: int
    """On the board that has most of them."""


class LadderRoom:
    """Judges who may open ladders of scopes on one board, one after another.

    >>> room = LadderRoom(EMBEDDED_QUOTAS.changed({"scope_ladders": 2}), Refusals(), "cup", 0)
    >>> [room.refusal(new, "player") is None for new in (["a", "b"], ["a"], ["c"], [])]
    [True, True, False, True]
    """

    def __init__(self, quotas: Quotas, refusals: Refusals, board: str, count: int) -> None:
        """`count` is how many the board has."""
        self._most = quotas.scope_ladders
        self._refusals = refusals
        self._board = board
        self._count = count
        self.opened: dict[object, None] = {}
        """What those who were let in are going to open."""

    def refusal(self, new: Collection[object], field: str, left: int = 0) -> TooManyLadders | None:
        """Why somebody who needs these new ladders cannot have them; None if they can.

        `new` are ladders that the board does not have yet. All of them are opened, or none. `left`
        is how many others nobody is on once they are: those make room.
        """
        fresh = [ladder for ladder in new if ladder not in self.opened]
        count = self._count + len(self.opened) + len(fresh) - left
        if len(fresh) > left and count > self._most:
            return self._refuse(field)
        self.opened.update(dict.fromkeys(fresh))
        return None

    def _refuse(self, field: str) -> TooManyLadders:
        self._refusals["scope_ladders"] += 1
        return TooManyLadders(
            field,
            f"board {self._board!r} has no room for more ladders of scopes: its quota is"
            f" {self._most:,} (scope values in each period); use fewer distinct attribute values,"
            " scopes or retained periods, or have the quota raised",
        )
