"""Windows: the rules by which a board starts afresh, as they are written in its definition.

A window is a built-in name (``"daily"``), a cron expression (``{"name": "lunch", "cron":
"0 12 * * *"}``) or a season (``{"name": "s1", "starts": ..., "ends": ...}``). It says nothing
about time zones: `Window.calendar` joins it with one, and the `Calendar` answers which `Period`
an instant belongs to. The arithmetic is in `slicing` (what a period is) and `zone` (how a wall
clock moves).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, cast, get_args

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
_MEMBERS: Final = ("name", "retain", "cron", "starts", "ends")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


class Window(msgspec.Struct, frozen=True):
    """One window of a board; `starts` and `ends` are a season's, `cron` is a cron window's."""

    name: str
    kind: Kind
    retain: int
    cron: str | None = None
    starts: int | None = None
    ends: int | None = None

    @classmethod
    def parse(cls, value: object) -> Window:
        """A window from its JSON form.

        >>> Window.parse({"name": "daily", "retain": 30})
        Window(name='daily', kind='daily', retain=30, cron=None, starts=None, ends=None)
        """
        if isinstance(value, str):
            return cls(value, kind := _built_in("", value), _RETAIN[kind])
        if not isinstance(value, Mapping):
            raise Invalid("", "must be the name of a built-in window, or an object")
        members = cast(Mapping[object, object], value)
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

    def to_json(self) -> str | dict[str, Any]:
        """The shortest JSON form that parses back to this window."""
        members: dict[str, Any] = {"name": self.name}
        if self.cron is not None:
            members["cron"] = self.cron
        if self.starts is not None and self.ends is not None:
            members |= {"starts": instant_text(self.starts), "ends": instant_text(self.ends)}
        if self.retain != _RETAIN[self.kind]:
            members["retain"] = self.retain
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


def parse_windows(value: object) -> tuple[Window, ...]:
    """The windows of a board: at least one, no name twice, not too many periods retained."""
    if not isinstance(value, list | tuple) or not value:
        raise Invalid("", "must be a list of at least one window")
    if len(value) > MOST_RETAINED:
        raise Invalid("", f"must be at most {MOST_RETAINED} windows")
    windows: dict[str, Window] = {}
    for index, item in enumerate(value):
        try:
            window = Window.parse(item)
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


DEFAULT_WINDOWS: Final = parse_windows(["all-time", "daily", "weekly", "monthly"])
"""The windows of a board that names none."""
