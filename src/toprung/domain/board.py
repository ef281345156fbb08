"""Boards: a named set of ranking rules, validated once and never changed in place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, TypeVar

import msgspec

from toprung.domain.calendar import Calendar, Period, PeriodState
from toprung.domain.history import HistoryRule
from toprung.domain.player import GLOBAL, check_attribute
from toprung.domain.ranking import RANKINGS, Ranking
from toprung.domain.score import DECIMALS_MAX, number_text, parse_score, score_value
from toprung.domain.sortkey import Direction, RecordShape, record_shape
from toprung.domain.trust.rates import Rate, parse_rate
from toprung.domain.trust.review import ReviewRule
from toprung.domain.trust.run_rule import USUAL_RUN, RunRule
from toprung.domain.trust.velocity import MaxPer
from toprung.domain.trust.writing import TRUSTS, Trust
from toprung.domain.values import bounded, parse_choice, parse_flag, parse_text
from toprung.domain.window import (
    DEFAULT_WINDOWS,
    Unsaid,
    UnsaidEnd,
    Window,
    no_end_said,
    parse_windows,
    usual_end,
)
from toprung.domain.zone import parse_timezone
from toprung.errors import FixedRule, Invalid, UnknownWindow

Policy = Literal["best", "latest", "sum"]
TieBreak = Literal["first", "last", "player"]

TITLE_MAX = 200
SCOPES_MAX = 8
"""Attributes that have ladders; `global` is always there besides, whether it is named or not."""

REMOVED_WINDOWS_MAX = 100
"""Windows of a board that were removed, and of which it is remembered what was settled."""

_BOARD_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)
CHOICES: dict[str, tuple[Any, ...]] = {
    "order": ("desc", "asc"),
    "policy": ("best", "latest", "sum"),
    "subscore": (None, "asc", "desc"),
    "tie_break": ("first", "last", "player"),
    "ranking": RANKINGS,
    "trust": TRUSTS,
}
"""The rules that are one of some words; the first is the default."""

_FIXED_ONCE_USED = ("order", "policy", "decimals", "subscore", "tie_break", "timezone")

T = TypeVar("T")


class Board(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The rules of one board. Scores in it (limits) are exact integers, like all scores."""

    id: str
    title: str = ""
    order: Direction = "desc"
    policy: Policy = "best"
    decimals: int = 0
    subscore: Direction | None = None
    tie_break: TieBreak = "first"
    ranking: Ranking = "ordinal"
    windows: tuple[Window, ...] = parse_windows(DEFAULT_WINDOWS)
    default_window: str | None = None
    timezone: str = "UTC"
    scopes: tuple[str, ...] = (GLOBAL,)
    public: bool = False
    score_min: int | None = None
    score_max: int | None = None
    max_increase: int | None = None
    history: HistoryRule | None = None
    """When snapshots of its ladders are taken; None: never."""
    trust: Trust = TRUSTS[0]
    """Who may submit scores."""
    run: RunRule | None = None
    """How long runs may take; None: as usual."""
    rate: Rate | None = None
    """How many submissions each player may send."""
    max_per: MaxPer | None = None
    """How fast an entry may improve."""
    review: ReviewRule | None = None
    """Which submissions wait for a verdict."""
    version: int = 0
    """The journal position that set these rules; 0 before they were recorded."""
    generation: int = 0
    """The journal position that created the board: a recreated id is another board."""
    closed: Mapping[str, int] = {}
    """By window: when the last period ended that is closed. Those before it are, too."""
    settled: Mapping[str, int] = {}
    """By window: when the last period ended that is settled."""
    archived: Mapping[str, int] = {}
    """By window that keeps archives: when the last period ended that is in one, or that had left
    retention before archives were kept. Later ones stay in the index until they are archived."""
    left: Mapping[str, int] = {}
    """By window: when the last period ended that was settled and whose entries have left, although
    they would be retained: the window was removed and added again, or its `retain` was raised.
    They are in its archive, or nowhere."""

    @classmethod
    def parse(
        cls, board_id: object, rules: Mapping[str, object], unsaid: UnsaidEnd = usual_end
    ) -> Board:
        """A board from its JSON form; whatever is omitted or null takes its default.

        >>> Board.parse("blitz", {"windows": ["daily"], "decimals": 2, "score_max": 9.5}).score_max
        950
        >>> Board.parse("blitz", {"ordr": "asc"})
        Traceback (most recent call last):
        toprung.errors.Invalid: ordr: is not a rule of a board
        """
        _check_names(rules)
        rules = {name: rule for name, rule in rules.items() if rule is not None}
        decimals = bounded(rules.get("decimals", 0), DECIMALS_MAX, "decimals", 0)
        limits: dict[str, Any] = {
            name: parse_score(rules[name], decimals, name)
            for name in ("score_min", "score_max", "max_increase")
            if name in rules
        }
        board = cls(
            id=parse_board_id(board_id),
            title=_title(rules.get("title", "")),
            decimals=decimals,
            windows=_windows(rules.get("windows", DEFAULT_WINDOWS), unsaid),
            default_window=_default_window(rules.get("default_window")),
            timezone=parse_timezone(rules.get("timezone", "UTC")),
            scopes=_scopes(rules["scopes"]) if "scopes" in rules else (GLOBAL,),
            public=parse_flag(rules.get("public", False), "public"),
            history=HistoryRule.parse(rules.get("history")),
            run=RunRule.parse(rules.get("run")),
            rate=parse_rate(rules.get("rate"), "rate"),
            max_per=MaxPer.parse(rules.get("max_per"), decimals),
            review=ReviewRule.parse(rules.get("review")),
            **{
                name: parse_choice(rules.get(name, choices[0]), choices, name)
                for name, choices in CHOICES.items()
            },
            **limits,
        )
        board._check_limits()
        board._check_default_window()
        return board

    def rules(self) -> dict[str, Any]:
        """The JSON form: ``Board.parse(board.id, board.rules())`` gives the same rules."""
        return {name: _TO_JSON.get(name, _as_is)(self, getattr(self, name)) for name in _RULES}

    @classmethod
    def read(cls, board_id: str, recorded: Mapping[str, Any]) -> Board:
        """A board as a journal keeps it, and as older versions kept it: see `kept`."""
        rules = dict(recorded)
        marks = {name: rules.pop(name, {}) for name in _MARKS}
        return msgspec.structs.replace(cls.parse(board_id, rules, no_end_said), **marks)

    def kept(self) -> dict[str, Any]:
        """What a journal keeps: the rules, and which periods are closed, settled and archived.

        What is not set is left out, and newer rules that are as they always were: an older process
        knows nothing of them.

        >>> board = Board.parse("blitz", {"windows": ["daily"]})
        >>> board.kept()["windows"], Board.read("blitz", board.kept()) == board
        ([{'name': 'daily', 'grace': 3600}], True)
        """
        rules = self.rules().items()
        form = {name: value for name, value in rules if value not in (None, _USUAL.get(name))}
        form["windows"] = [window.to_json(unsaid=None) for window in self.windows]
        return form | {name: dict(marks) for name in _MARKS if (marks := getattr(self, name))}

    def ends_of(self, unsaid: UnsaidEnd) -> UnsaidEnd:
        """What windows that say nothing have when this board's rules are replaced: their own."""
        own = {window.name: Unsaid(window.grace, window.keep) for window in self.windows}

        def end(window: str) -> Unsaid:
            return own[window] if window in own else unsaid(window)

        return end

    def patched(self, patch: Mapping[str, object], unsaid: UnsaidEnd = usual_end) -> Board:
        """The board after a JSON merge patch: null puts a rule back to its default."""
        _check_names(patch)
        changed = Board.parse(self.id, self.rules() | dict(patch), self.ends_of(unsaid))
        return changed.recorded(self.version, self.generation)

    def ended_like(self, before: Board) -> Board:
        """These rules, and what became of the periods of the windows that it had `before`.

        What is settled stays so when its window is removed, and also when it is added again.
        """
        if self.timezone != before.timezone:
            return self
        spans = {window.name: _span(window) for window in self.windows}
        were = {window.name: _span(window) for window in before.windows}
        changed = {name for name in spans.keys() & were if spans[name] != were[name]}
        marks = {
            name: {each: at for each, at in getattr(before, name).items() if each not in changed}
            for name in _MARKS
        }
        for window, at in marks["settled"].items():
            if window not in spans:  # nothing is left to be archived
                marks["archived"][window] = max(at, marks["archived"].get(window, at))
            elif window not in were:
                marks["left"][window] = at
        return msgspec.structs.replace(self, **_without_oldest(marks, set(spans)))

    def released_since(self, before: Board, now: int) -> Board:
        """The board, knowing what it had let go of if it retains more than it did `before`.

        Only what is settled: other periods take late scores, now that they are retained again.
        """
        old = {window.name: window for window in before.windows}
        left = dict(self.left)
        for window in self.windows:
            name, was = window.name, old.get(window.name, window)
            if window.retain > was.retain and name in self.settled:
                oldest = before.calendar(was).retained(now)[-1].opens_at or 0
                mark = min(oldest, self.settled[name], self.archived.get(name, oldest))
                left[name] = max(mark, left.get(name, 0))
        return msgspec.structs.replace(self, left={name: at for name, at in left.items() if at})

    def archiving_since(self, now: int) -> Board:
        """The board, where windows that begin to keep archives do so for what is retained now."""
        own = {window.name for window in self.windows}
        archived = {window: at for window, at in self.archived.items() if window not in own}
        for window in self.windows:
            if window.keep != 0:
                oldest = self.calendar(window).retained(now)[-1].opens_at
                mark = self.archived.get(window.name, oldest)
                if mark is not None:
                    archived[window.name] = max(mark, self.left.get(window.name, mark))
        return msgspec.structs.replace(self, archived=archived)

    def with_closed(self, window: str, ended_at: int, version: int) -> Board:
        """The board once a period of a window is closed, by the event at `version`."""
        return msgspec.structs.replace(
            self, closed={**self.closed, window: ended_at}, version=version
        )

    def with_settled(self, window: str, ended_at: int, version: int) -> Board:
        """The board once a period of a window is settled, by the event at `version`."""
        return msgspec.structs.replace(
            self, settled={**self.settled, window: ended_at}, version=version
        )

    def with_archived(self, window: str, ended_at: int, version: int) -> Board:
        """The board once a period of a window is archived, by the event at `version`."""
        return msgspec.structs.replace(
            self, archived={**self.archived, window: ended_at}, version=version
        )

    def archived_later(self, archived: Mapping[str, int]) -> Board:
        """The board as it was, but knowing which periods were archived since."""
        later = {window: max(at, archived.get(window, at)) for window, at in self.archived.items()}
        return msgspec.structs.replace(self, archived=later)

    def recorded(self, version: int, generation: int) -> Board:
        """The same rules as set by the event at `version`."""
        return msgspec.structs.replace(self, version=version, generation=generation)

    def check_replacement(self, new: Board) -> None:
        """Refuse changes that would give existing entries another meaning."""
        for name in _FIXED_ONCE_USED:
            if getattr(self, name) != getattr(new, name):
                raise FixedRule(name, f"cannot change once board {self.id!r} has entries")
        before = {window.name: window for window in self.windows}
        for number, window in enumerate(new.windows):
            old = before.get(window.name, window)
            if _span(old) != _span(window):
                raise FixedRule(
                    f"windows/{number}",
                    f"window {window.name!r} cannot change once board {self.id!r} has entries;"
                    " give the changed window another name",
                )

    def window(self, name: str | None) -> Window:
        """The window of this name; by default the declared one, else all-time, else the first."""
        if name is None:
            name = self.default_window
        if name is None:
            return self.guard_window
        parse_text(name, "window")
        for window in self.windows:
            if window.name == name:
                return window
        known = ", ".join(window.name for window in self.windows)
        raise UnknownWindow(f"board {self.id!r} has no window {name!r}; it has: {known}")

    def calendar(self, window: Window) -> Calendar:
        """The periods of one of the board's windows, in the board's zone."""
        return self._calendars[window.name]

    @cached_property
    def _calendars(self) -> dict[str, Calendar]:
        return {window.name: _calendar(window, self.timezone) for window in self.windows}

    @cached_property
    def shape(self) -> RecordShape:
        """How this board's entries are ordered."""
        return record_shape(self.order, self.subscore, self.tie_break)

    @cached_property
    def guard_window(self) -> Window:
        """All-time if the board has it, else the first: where `max_increase` looks."""
        return next((w for w in self.windows if w.kind == "all-time"), self.windows[0])

    @cached_property
    def is_guarded(self) -> bool:
        """Whether new submissions are judged by the entry on the guard ladder."""
        return any(rule is not None for rule in (self.max_increase, self.max_per, self.review))

    def is_closed(self, window: str, period: Period) -> bool:
        """Whether late scores do not count in a period any more."""
        return _has_passed(self.closed.get(window), period)

    def is_settled(self, window: str, period: Period) -> bool:
        """Whether a period changes no more."""
        return _has_passed(self.settled.get(window), period)

    def is_archived(self, window: str, period: Period) -> bool:
        """Whether a period has an archive, or could not get one any more."""
        return _has_passed(self.archived.get(window), period)

    def has_left(self, window: str, period: Period) -> bool:
        """Whether a period was settled, and its entries have left although they are retained."""
        return _has_passed(self.left.get(window), period)

    def retains(self, window: Window, period: Period, now: int) -> bool:
        """Whether the entries of a period stay where they are.

        They do as long as `retain` says; and if they are to be archived, until they are.
        """
        if self.has_left(window.name, period):
            return False
        if self.calendar(window).is_retained(period, now):
            return True
        has_begun = period.opens_at is None or period.opens_at <= now
        return window.keep != 0 and has_begun and not self.is_archived(window.name, period)

    def state_of(self, window: str, period: Period, now: int) -> PeriodState:
        """What people are told of a period."""
        if self.is_settled(window, period):
            return "settled"
        return "closed" if self.is_closed(window, period) else period.state(now)

    def shown(self, score: int) -> str:
        """A score of this board in a sentence."""
        return number_text(score_value(score, self.decimals))

    @property
    def run_rule(self) -> RunRule:
        """How long runs may take."""
        return USUAL_RUN if self.run is None else self.run

    def check_score(self, score: int) -> int:
        """The score, if it lies within the board's limits."""
        low, high = self.score_min, self.score_max
        if low is not None and score < low:
            raise Invalid("score", f"must be at least {self.shown(low)}")
        if high is not None and score > high:
            raise Invalid("score", f"must be at most {self.shown(high)}")
        return score

    def _check_default_window(self) -> None:
        names = [window.name for window in self.windows]
        if self.default_window is not None and self.default_window not in names:
            raise Invalid("default_window", f"must be one of the windows: {', '.join(names)}")

    def _check_limits(self) -> None:
        low, high = self.score_min, self.score_max
        if low is not None and high is not None and low > high:
            raise Invalid("score_min", "must not be greater than score_max")
        if self.max_increase is not None and self.max_increase < 0:
            raise Invalid("max_increase", "must not be negative")


def parse_board_id(value: object, field: str = "board") -> str:
    """A valid board id.

    >>> parse_board_id("Blitz!")
    Traceback (most recent call last):
    toprung.errors.Invalid: board: must be 1-64 of a-z, 0-9, ".", "_" and "-", ...
    """
    if isinstance(value, str) and _BOARD_ID.fullmatch(value):
        return value
    raise Invalid(
        field, 'must be 1-64 of a-z, 0-9, ".", "_" and "-", starting with a letter or digit'
    )


@lru_cache(maxsize=4096)
def _calendar(window: Window, timezone: str) -> Calendar:
    return window.calendar(timezone)


def _windows(value: object, unsaid: UnsaidEnd) -> tuple[Window, ...]:
    try:
        return parse_windows(value, unsaid)
    except Invalid as error:
        raise error.under("windows") from None


def _default_window(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise Invalid("default_window", "must be the name of a window, or null")


def _scopes(value: object) -> tuple[str, ...]:
    """Declared scopes, `global` always first: every submission counts there."""
    if not isinstance(value, list | tuple):
        raise Invalid("scopes", "must be a list of attribute names")
    names = [n if n == GLOBAL else check_attribute(n, f"scopes/{i}") for i, n in enumerate(value)]
    if len(set(names)) < len(names):
        raise Invalid("scopes", "must not name a scope twice")
    attributes = [name for name in names if name != GLOBAL]
    if len(attributes) > SCOPES_MAX:
        raise Invalid("scopes", f"must name at most {SCOPES_MAX} attributes")
    return (GLOBAL, *attributes)


def _title(value: object) -> str:
    if not isinstance(value, str) or len(value) > TITLE_MAX:
        raise Invalid("title", f"must be text of at most {TITLE_MAX} characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Invalid("title", "is not valid Unicode text (a lone surrogate)") from None
    return str(value)


def _has_passed(mark: int | None, period: Period) -> bool:
    return mark is not None and period.closes_at is not None and period.closes_at <= mark


def _span(window: Window) -> tuple[object, ...]:
    """What decides which period a moment belongs to."""
    return window.kind, window.cron, window.starts, window.ends


def _without_oldest(
    marks: dict[str, dict[str, int]], windows: set[str]
) -> dict[str, dict[str, int]]:
    """The marks of windows, and of as many that were removed as are remembered."""
    newest = sorted(marks["closed"], key=lambda window: marks["closed"][window], reverse=True)
    kept = windows | set([each for each in newest if each not in windows][:REMOVED_WINDOWS_MAX])
    return {
        name: {window: at for window, at in found.items() if window in kept}
        for name, found in marks.items()
    }


def _check_names(rules: Mapping[str, object]) -> None:
    for name in rules:
        if name not in _RULES:
            raise Invalid(str(name)[:64], "is not a rule of a board")


def _as_is(_board: Board, value: T) -> T:
    return value


def _limit(board: Board, value: int | None) -> int | Decimal | None:
    return None if value is None else score_value(value, board.decimals)


_USUAL = {"trust": TRUSTS[0]}
"""Rules that boards had before there was anything to choose."""
_MARKS = ("closed", "settled", "archived", "left")
_NO_RULES = ("id", "version", "generation", *_MARKS)
_RULES = tuple(f for f in Board.__struct_fields__ if f not in _NO_RULES)
_TO_JSON: dict[str, Any] = {
    "windows": lambda _, value: [window.to_json() for window in value],
    "scopes": lambda _, value: list(value),
    "score_min": _limit,
    "score_max": _limit,
    "max_increase": _limit,
    "history": lambda _, value: None if value is None else value.to_json(),
    "run": lambda _, value: None if value is None else value.to_json(),
    "rate": lambda _, value: None if value is None else value.to_json(),
    "max_per": lambda board, value: (
        None if value is None else value.to_json(partial(score_value, decimals=board.decimals))
    ),
    "review": lambda _, value: None if value is None else value.to_json(),
}
