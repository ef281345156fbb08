"""Windows: the rules by which a board starts afresh, as they are written in its definition.

A window is a built-in name (``"daily"``), a cron expression (``{"name": "lunch", "cron":
"0 12 * * *"}``) or a season (``{"name": "s1", "starts": ..., "ends": ...}``). It says nothing
about time zones: `Window.calendar` joins it with one, and the `Calendar` answers which `Period`
an instant belongs to. The arithmetic is in `slicing` (what a period is) and `zone` (how a wall
clock moves).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, get_args

import msgspec

from toprung.domain.calendar import Calendar, Period, endless_periods, one_period
from toprung.domain.instant import instant_text, parse_instant
from toprung.domain.slicing import cron_slicing, parse_cron, slicing
from toprung.domain.values import bounded
from toprung.domain.zone import WallClock
from toprung.errors import Invalid

Kind = Literal["all-time", "hourly", "daily", "weekly", "monthly", "yearly", "cron", "season"]

MOST_RETAINED: Final = 64
"""How many periods all windows of a board may retain together."""

Grace: TypeAlias = int | None
"""For how many seconds after its end a period takes late scores; None: as long as it is retained,
and then it is never closed."""

GRACE: Final = 3600
"""The grace of windows that name none, on boards that are created from now on."""

RETAINED: Final = "retained"
"""How people say that a period is never closed."""

SECONDS_MAX: Final = 366 * 24 * 3600
"""For `grace`, and for `review_time`."""

Keep: TypeAlias = int | None
"""How many periods have an archive, counted back from the last that ended; None: all, 0: none."""

FOREVER: Final = "forever"
"""How people say that archives are never deleted."""

KEEP_MAX: Final = 1_000_000


class Unsaid(NamedTuple):
    """What a window has that says nothing of the end of its periods."""

    grace: Grace
    keep: Keep


UnsaidEnd: TypeAlias = Callable[[str], Unsaid]
"""That of a window, by its name."""

_RETAIN: Final[dict[Kind, int]] = {
    "all-time": 1,
    "hourly": 48,
    "daily": 8,
    "weekly": 5,
    "monthly": 13,
    "yearly": 5,
    "cron": 8,
    "season": 1,
}
_BUILT_IN: Final = tuple(kind for kind in get_args(Kind) if kind not in ("cron", "season"))
_MEMBERS: Final = ("name", "retain", "cron", "starts", "ends", "grace", "review_time", "keep")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


def usual_end(_window: str) -> Unsaid:
    """That of a new board, where nothing is archived."""
    return Unsaid(GRACE, 0)


def archived_end(_window: str) -> Unsaid:
    """That of a new board, where settled periods are archived."""
    return Unsaid(GRACE, None)


def no_end_said(_window: str) -> Unsaid:
    """That of a recorded window: it may be older than closing."""
    return Unsaid(None, 0)


class Window(msgspec.Struct, frozen=True):
    """One window of a board; `starts` and `ends` are a season's, `cron` is a cron window's."""

    name: str
    kind: Kind
    retain: int
    cron: str | None = None
    starts: int | None = None
    ends: int | None = None
    grace: Grace = None
    review_time: int = 0
    """How many seconds a closed period can be corrected before it is settled."""
    keep: Keep = 0

    @classmethod
    def parse(cls, value: object, unsaid: UnsaidEnd = usual_end) -> Window:
        """A window from its JSON form.

        >>> window = Window.parse({"name": "daily", "retain": 30, "grace": 600})
        >>> window.kind, window.retain, window.grace, window.review_time
        ('daily', 30, 600, 0)
        >>> Window.parse("daily").grace, Window.parse("all-time").grace
        (3600, None)
        """
        if isinstance(value, str):
            members: Mapping[object, object] = {}
            window = cls(value, kind := _built_in("", value), _RETAIN[kind])
        elif isinstance(value, Mapping):
            members = cast(Mapping[object, object], value)
            window = cls._parse_object(members)
        else:
            raise Invalid("", "must be the name of a built-in window, or an object")
        return _with_end(window, members, unsaid)

    @classmethod
    def _parse_object(cls, members: Mapping[object, object]) -> Window:
        _refuse_unknown(members)
        if "cron" in members:
            return cls._parse_cron(members)
        if "starts" in members or "ends" in members:
            return cls._parse_season(members)
        kind = _built_in("name", members.get("name"))
        return cls(kind, kind, _parse_retain(members, kind))

    @classmethod
    def _parse_cron(cls, members: Mapping[object, object]) -> Window:
        if "starts" in members or "ends" in members:
            raise Invalid("cron", "cannot be combined with starts and ends")
        return cls(
            name=_parse_name(members.get("name")),
            kind="cron",
            retain=_parse_retain(members, "cron"),
            cron=parse_cron(members["cron"]),
        )

    @classmethod
    def _parse_season(cls, members: Mapping[object, object]) -> Window:
        season = cls(
            name=_parse_name(members.get("name")),
            kind="season",
            retain=_parse_retain(members, "season"),
            starts=(starts := parse_instant(members.get("starts"), "starts")),
            ends=(ends := parse_instant(members.get("ends"), "ends")),
        )
        if starts >= ends:
            raise Invalid("ends", "must be later than starts")
        return season

    def to_json(self, unsaid: Grace = GRACE, unsaid_keep: Keep = 0) -> str | dict[str, Any]:
        """The shortest JSON form that parses back to this window, if what is unsaid is known then.

        >>> Window.parse("daily").to_json(), Window.parse("daily").to_json(unsaid=None)
        ('daily', {'name': 'daily', 'grace': 3600})
        """
        members: dict[str, Any] = {"name": self.name}
        if self.cron is not None:
            members["cron"] = self.cron
        if self.starts is not None and self.ends is not None:
            members |= {"starts": instant_text(self.starts), "ends": instant_text(self.ends)}
        if self.retain != _RETAIN[self.kind]:
            members["retain"] = self.retain
        if self.kind != "all-time" and self.grace != unsaid:
            members["grace"] = RETAINED if self.grace is None else self.grace
        if self.review_time:
            members["review_time"] = self.review_time
        if self.kind != "all-time" and self.keep != unsaid_keep:
            members["keep"] = FOREVER if self.keep is None else self.keep
        return self.name if len(members) == 1 else members

    def calendar(self, timezone: str) -> Calendar:
        """The window's periods in an IANA time zone; keep it, it remembers boundaries."""
        clock = WallClock(timezone)
        if self.kind == "all-time":
            return one_period(Period("all", None, None))
        if self.kind == "season":
            return one_period(Period(self.name, self.starts, self.ends))
        if self.cron is not None:
            return endless_periods(cron_slicing(self.cron, clock), self.retain)
        return endless_periods(slicing(self.kind, clock), self.retain)


def parse_windows(value: object, unsaid: UnsaidEnd = usual_end) -> tuple[Window, ...]:
    """The windows of a board: at least one, no name twice, not too many periods retained."""
    if not isinstance(value, list | tuple) or not value:
        raise Invalid("", "must be a list of at least one window")
    if len(value) > MOST_RETAINED:
        raise Invalid("", f"must be at most {MOST_RETAINED} windows")
    windows: dict[str, Window] = {}
    for index, item in enumerate(value):
        try:
            window = Window.parse(item, unsaid)
        except Invalid as error:
            raise error.under(str(index)) from None
        if window.name in windows:
            raise Invalid(f"{index}/name", f"{window.name!r} is already the name of another window")
        windows[window.name] = window
    total = sum(window.retain for window in windows.values())
    if total > MOST_RETAINED:
        raise Invalid("", f"retain {total} periods in total; the maximum is {MOST_RETAINED}")
    return tuple(windows.values())


def _refuse_unknown(members: Mapping[object, object]) -> None:
    for member in members:
        if member not in _MEMBERS:
            name = str(member)[:64]
            raise Invalid(
                name, f"is not a member of a window; the members are {', '.join(_MEMBERS)}"
            )


def _built_in(field: str, name: object) -> Kind:
    if name in _BUILT_IN:
        return cast(Kind, name)
    raise Invalid(
        field,
        f"must be one of {', '.join(_BUILT_IN)}; a custom window is an object with a name and "
        "either cron or starts and ends",
    )


def _parse_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Invalid("name", f"must match {_NAME.pattern}")
    if name in _BUILT_IN:
        raise Invalid("name", f"{name!r} is a built-in window; a custom one needs another name")
    return name


def _parse_retain(members: Mapping[object, object], kind: Kind) -> int:
    retain = members.get("retain", _RETAIN[kind])
    most = 1 if kind in ("all-time", "season") else MOST_RETAINED
    return bounded(retain, most, "retain")


def _with_end(window: Window, members: Mapping[object, object], unsaid: UnsaidEnd) -> Window:
    """The window with what its members say of the end of periods."""
    if window.kind == "all-time":
        for name in ("grace", "review_time", "keep"):
            if name in members:
                raise Invalid(name, "is not for all-time, which never ends")
        return window
    usual = unsaid(window.name)
    grace = _parse_grace(members["grace"]) if "grace" in members else usual.grace
    review_time = bounded(members.get("review_time", 0), SECONDS_MAX, "review_time", 0)
    if review_time and grace is None:
        raise Invalid("review_time", f'needs a grace that is not "{RETAINED}"')
    keep = _parse_keep(members["keep"]) if "keep" in members else usual.keep
    if keep != 0 and grace is None:
        if "keep" in members:
            raise Invalid(
                "keep", f'needs a grace that is not "{RETAINED}": only settled periods are archived'
            )
        keep = 0
    return msgspec.structs.replace(window, grace=grace, review_time=review_time, keep=keep)


def _parse_grace(value: object) -> Grace:
    if value == RETAINED:
        return None
    if isinstance(value, str):
        raise Invalid("grace", f'must be a number of seconds, or "{RETAINED}"')
    return bounded(value, SECONDS_MAX, "grace", 0)


def _parse_keep(value: object) -> Keep:
    if value == FOREVER:
        return None
    if isinstance(value, str):
        raise Invalid("keep", f'must be a number of periods, or "{FOREVER}"')
    return bounded(value, KEEP_MAX, "keep", 0)


DEFAULT_WINDOWS: Final = ("all-time", "daily", "weekly", "monthly")
"""The windows of a board that names none."""
