"""What reads can be asked for: the options they share, their types and their defaults.

A read takes ``**options: Unpack[ListOptions]``: type checkers and editors know each option from
the type, and the read gets their values, defaults filled in, from `AskedList`.
"""

from __future__ import annotations

from typing import TypedDict

from msgspec import Struct

from toprung.domain.player import GLOBAL
from toprung.domain.ranking import Ranking


class LadderOptions(TypedDict, total=False):
    """Which ladder of a board is read; all options are optional.

    - `window`: the name of one of the board's windows. Default: the board's `default_window`;
      without one, all-time if the board has it, else its first.
    - `period`: the id of a period of that window, such as ``2026-11-15``. Default: the current one.
    - `scope`: ``global`` (the default), or an attribute's value such as ``country:PT``.
    - `viewer`: the player for whom it is read. One who is shadow-banned is shown itself among
      others, as if it were not. Default: nobody in particular.
    """

    window: str | None
    period: str | None
    scope: str
    viewer: str | None


class ListOptions(LadderOptions, total=False):
    """Which ladder is read, and how its standings are shown; all options are optional.

    `window`, `period`, `scope` and `viewer` are those of `LadderOptions`.

    - `ranking`: ``ordinal``, ``competition`` or ``dense``. Default: the board's `ranking`.
    - `names`: whether to include names and pictures. Default: true in lists, false in `standing`.
    - `details`: whether to include the details of each entry's submission. Default: false.
    - `movement`: whether to include how each player has moved since the newest snapshot of the
      ladder. Default: false.
    """

    ranking: Ranking | None
    names: bool
    details: bool
    movement: bool


class AskedLadder(Struct, frozen=True, gc=False):
    """All of `LadderOptions`, as given or by default.

    A name that is none of them is a TypeError, as it is for every function:

    >>> AskedLadder(period="2026-11-15")
    AskedLadder(window=None, period='2026-11-15', scope='global', viewer=None)
    >>> AskedLadder(perod="2026-11-15")
    Traceback (most recent call last):
    TypeError: Unexpected keyword argument 'perod'
    """

    window: str | None = None
    period: str | None = None
    scope: str = GLOBAL
    viewer: str | None = None


class AskedList(AskedLadder, frozen=True, gc=False):
    """All of `ListOptions`, as given or by default."""

    ranking: Ranking | None = None
    names: bool = True
    details: bool = False
    movement: bool = False
