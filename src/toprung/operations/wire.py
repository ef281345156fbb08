"""How the library's values become answers, and what of them callers may ask for in other words.

Most values are answered as they are. Rows of a list leave out what the list says once, a standing
leaves out its board, a submission's result tells of a repeat in a header; `shown` knows which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from operator import attrgetter
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

from msgspec import UNSET, Raw, Struct
from msgspec.structs import replace

from toprung.contract import (
    BatchAnswer,
    BoardAnswer,
    LookupAnswer,
    PageAnswer,
    RejectedRow,
    StandingAnswer,
    StandingRow,
    SubmitAnswer,
)
from toprung.domain.board_rules import BoardRules
from toprung.domain.score import number_text
from toprung.domain.standing import (
    NUMBER,
    BatchResult,
    Lookup,
    Page,
    ReadablePeriod,
    Standing,
    SubmitResult,
)
from toprung.waiting.pace import LongWork

Show = Callable[[Any], Any]

_EXPONENT_SHOWN_BELOW: Final = -6
"""Decimals whose first digit stands further behind the point are written with an exponent."""

# --- numbers --------------------------------------------------------------------------------------


def text_of(number: Any) -> Any:
    """A number as text; None stays None.

    >>> text_of(Decimal("1E-9")), text_of(2**53 + 1)
    ('0.000000001', '9007199254740993')
    """
    return None if number is None else number_text(number)


def number_of(number: Any) -> Any:
    """A number as JSON shows it: digits, never with an exponent; None stays None.

    >>> import msgspec
    >>> msgspec.json.encode([number_of(Decimal("1E-9")), number_of(Decimal("0E-7")), number_of(5)])
    b'[0.000000001,0.0000000,5]'
    """
    if type(number) is Decimal and number.adjusted() < _EXPONENT_SHOWN_BELOW:
        return Raw(number_text(number).encode())
    return number


def shows(numbers: str) -> Show:
    """How numbers are shown."""
    return text_of if numbers == "string" else number_of


def with_numbers(value: Any, show: Show) -> Any:
    """A value with all its scores, subscores and submission ids as `show` shows them.

    >>> from toprung.domain.standing import Bucket, Distribution
    >>> with_numbers(Distribution(1, (Bucket(5, 9, 1),)), text_of)
    Distribution(total=1, buckets=[Bucket(low='5', high='9', count=1)])
    """
    if isinstance(value, list | tuple):
        return [with_numbers(each, show) for each in value]
    if isinstance(value, dict):
        return {name: with_numbers(each, show) for name, each in value.items()}
    if not isinstance(value, Struct):
        return value
    numbers, parts = _members(type(value))
    shown = {}
    for name in numbers:
        number = getattr(value, name)
        if (other := show(number)) is not number:
            shown[name] = other
    for name in parts:
        shown[name] = with_numbers(getattr(value, name), show)
    return replace(value, **shown) if shown else value


def numbers_in(value: Any) -> Iterator[int | Decimal]:
    """All scores, subscores and submission ids in a value."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from numbers_in(each)
    elif isinstance(value, dict):
        yield from numbers_in(list(value.values()))
    elif isinstance(value, Struct):
        numbers, parts = _members(type(value))
        yield from (found for name in numbers if (found := getattr(value, name)) is not None)
        for name in parts:
            yield from numbers_in(getattr(value, name))


@cache
def _members(kind: type[Struct]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The members that are such numbers, and those that hold structs with some."""
    hints = get_type_hints(kind, include_extras=True)
    numbers = tuple(name for name, hint in hints.items() if is_number(hint))
    parts = tuple(name for name, hint in hints.items() if _holds_numbers(hint))
    return numbers, parts


def is_number(hint: Any) -> bool:
    """Whether a type is that of a number which callers may ask for as text."""
    if get_origin(hint) in (Union, UnionType):
        return any(is_number(part) for part in get_args(hint))
    return get_origin(hint) is Annotated and NUMBER in hint.__metadata__


def _holds_numbers(hint: Any) -> bool:
    if isinstance(hint, type) and issubclass(hint, Struct):
        return any(_members(hint))
    return not is_number(hint) and any(_holds_numbers(part) for part in get_args(hint))


# --- answers --------------------------------------------------------------------------------------

_submit_members = attrgetter(*SubmitAnswer.__struct_fields__)


def row(
    standing: Standing,
    show: Show = number_of,
    *,
    percentile: bool = False,
    movement: bool = False,
) -> StandingRow:
    """A line of a list. Hot, so its members are spelled out."""
    return StandingRow(
        standing.rank,
        standing.player,
        show(standing.score),
        standing.achieved_at,
        show(standing.subscore),
        standing.name,
        standing.avatar_url,
        standing.details,
        standing.global_rank,
        standing.percentile if percentile else None,
        standing.top_percent if percentile else None,
        standing.movement if movement else UNSET,
    )


def standing_answer(
    standing: Standing, show: Show = number_of, *, board: bool = False, movement: bool = False
) -> StandingAnswer:
    """A standing by itself. Hot, so its members are spelled out."""
    return StandingAnswer(
        standing.rank,
        standing.player,
        show(standing.score),
        standing.total,
        standing.percentile,
        standing.top_percent,
        standing.achieved_at,
        standing.window,
        standing.period,
        standing.scope,
        standing.state,
        show(standing.subscore),
        standing.name,
        standing.avatar_url,
        standing.details,
        standing.board if board else None,
        standing.movement if movement else UNSET,
    )


def page_answer(
    page: Page, show: Show = number_of, *, percentile: bool = False, movement: bool = False
) -> PageAnswer:
    """A page of standings."""
    return PageAnswer(
        page.board,
        page.window,
        page.period,
        page.scope,
        page.state,
        page.total,
        rows(page.standings, show, percentile=percentile, movement=movement),
        page.next,
        page.prev,
    )


def rows(
    standings: Sequence[Standing],
    show: Show = number_of,
    *,
    percentile: bool = False,
    movement: bool = False,
) -> list[StandingRow]:
    """The lines of a list: `row` of each, without a call for each where numbers stay as they are.

    A board's scores are all whole or none is.
    """
    is_plain = show is number_of and not percentile
    if not (is_plain and standings and type(standings[0].score) is int):
        return [row(each, show, percentile=percentile, movement=movement) for each in standings]
    if movement:
        return [
            StandingRow(
                each.rank,
                each.player,
                each.score,
                each.achieved_at,
                each.subscore,
                each.name,
                each.avatar_url,
                each.details,
                each.global_rank,
                None,
                None,
                each.movement,
            )
            for each in standings
        ]
    return [
        StandingRow(
            each.rank,
            each.player,
            each.score,
            each.achieved_at,
            each.subscore,
            each.name,
            each.avatar_url,
            each.details,
            each.global_rank,
        )
        for each in standings
    ]


def lookup_answer(
    found: Lookup, show: Show = number_of, *, percentile: bool = False, movement: bool = False
) -> LookupAnswer:
    """The standings of many; which ladder they are on is told once."""
    listed = rows(found.standings, show, percentile=percentile, movement=movement)
    answer = LookupAnswer(listed, found.missing)
    if found.standings:
        one = found.standings[0]
        answer.total, answer.scope = one.total, one.scope
        answer.window, answer.period, answer.state = one.window, one.period, one.state
    return answer


def submit_answer(result: SubmitResult, show: Show = number_of) -> SubmitAnswer:
    """What became of a submission."""
    answer = SubmitAnswer(*_submit_members(result))
    first = next(iter(result.standings.values()), None)
    if show is not number_of or (first is not None and type(first.score) is Decimal):
        answer.submission = show(answer.submission)
        answer.standings = with_numbers(answer.standings, show)
    return answer


async def batch_answer(result: BatchResult) -> BatchAnswer:
    """What became of a batch."""
    rejected: list[RejectedRow] = []
    async with LongWork() as work:
        for each in result.rejected:
            pointer = f"/{each.index}/{each.field}" if each.field else f"/{each.index}"
            rejected.append(RejectedRow(pointer, each.detail))
            if work.is_due():
                await work.rest()
    answer = BatchAnswer(result.accepted, result.unchanged, result.duplicates, rejected)
    if result.pending:
        answer.pending = result.pending
    return answer


def board_answer(
    board: BoardRules, show: Show = number_of, periods: dict[str, ReadablePeriod] | None = None
) -> BoardAnswer:
    """A board and its rules."""
    rules = dict(board) | {"windows": list(board.windows), "scopes": list(board.scopes)}
    for limit in ("score_min", "score_max", "max_increase"):
        rules[limit] = show(rules[limit])
    if rules["max_per"] is not None:
        rules["max_per"] = rules["max_per"] | {"amount": show(rules["max_per"]["amount"])}
    for rule in ("rate", "max_per", "review"):
        if rules[rule] is None:
            del rules[rule]
    return BoardAnswer(id=board.id, **rules, periods=periods or {})


def shown(
    value: Any, show: Show = number_of, *, percentile: bool = False, movement: bool = False
) -> Any:
    """What is answered for a value of the library."""
    if isinstance(value, Page):
        return page_answer(value, show, percentile=percentile, movement=movement)
    if isinstance(value, Standing):
        return standing_answer(value, show, movement=movement)
    if isinstance(value, SubmitResult):
        return submit_answer(value, show)
    if isinstance(value, list) and value and isinstance(value[0], Standing):
        return [standing_answer(each, show, board=True) for each in value]
    return with_numbers(value, show)
