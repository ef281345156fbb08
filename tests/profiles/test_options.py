"""The options that reads share: the same names and defaults everywhere, and no others."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import msgspec
import pytest

import toprung
from toprung.service import options
from toprung.service.leaderboards import Leaderboard

Read = Callable[..., Any]

LISTS: dict[str, Read] = {
    "standing": lambda board, **given: board.standing("alice", **given),
    "lookup": lambda board, **given: board.lookup(["alice", "bob"], **given),
    "top": lambda board, **given: board.top(2, **given),
    "standings": lambda board, **given: board.standings(2, **given),
    "around": lambda board, **given: board.around("alice", 1, 1, **given),
    "around_score": lambda board, **given: board.around_score(15, 1, 1, **given),
    "friends": lambda board, **given: board.friends("alice", **given),
}
LADDERS: dict[str, Read] = {
    "total": lambda board, **given: board.total(**given),
    "distribution": lambda board, **given: board.distribution(2, **given),
    "version": lambda board, **given: board.version(**given),
}
SCOPES: dict[str, Read] = {"scopes": lambda board, **given: board.scopes(**given)}
READS = LISTS | LADDERS | SCOPES
LIST_OPTIONS: dict[str, Any] = {
    "window": "daily",
    "period": None,
    "scope": "country:PT",
    "viewer": "bob",
    "ranking": "dense",
    "names": False,
    "details": True,
    "movement": True,
}
UNKNOWN = [
    *((name, option) for name in READS for option in ("windw", "self_", "limits")),
    *(
        (name, option)
        for name in LADDERS | SCOPES
        for option in ("ranking", "names", "details", "movement")
    ),
    *(
        (name, option)
        for name in LISTS
        if name not in {"standings", "friends"}
        for option in ("cursor",)
    ),
    ("scopes", "scope"),
]


@pytest.fixture(scope="module")
def board() -> Any:
    with toprung.open("memory:") as boards:
        for player in ("alice", "bob"):
            boards.set_player(player, name=player.title(), attributes={"country": "PT"})
        found = boards.create("race", windows=["all-time", "daily"], scopes=["global", "country"])
        found.submit("alice", 10, details={"car": 1})
        found.submit("bob", 20)
        yield found


@pytest.mark.parametrize(("name", "option"), UNKNOWN)
def test_an_unknown_option_is_a_type_error(board: Any, name: str, option: str) -> None:
    with pytest.raises(TypeError, match=f"[Uu]nexpected keyword argument '{option}'"):
        READS[name](board, **{option: None})


def test_an_unknown_option_is_a_type_error_whatever_else_is_wrong(board: Any) -> None:
    reads: list[Read] = [
        lambda: board.top(0, windw=None),
        lambda: board.standings(0, windw=None),
        lambda: board.around("", -1, windw=None),
        lambda: board.around_score("much", -1, windw=None),
        lambda: board.friends("", 0, windw=None),
        lambda: board.lookup("alice", windw=None),
        lambda: board.distribution(0, windw=None),
    ]
    for read in reads:
        with pytest.raises(TypeError, match="windw"):
            read()


def test_with_an_event_loop_too() -> None:
    async def main() -> None:
        async with toprung.open_async("memory:") as boards:
            found = await boards.create("race")
            for name, option in UNKNOWN:
                with pytest.raises(TypeError, match=f"[Uu]nexpected keyword argument '{option}'"):
                    await READS[name](found, **{option: None})

    asyncio.run(main())


@pytest.mark.parametrize("name", READS)
def test_every_option_can_be_given_and_does_what_it_says(board: Any, name: str) -> None:
    kind = options.ListOptions if name in LISTS else options.LadderOptions
    names = [option for option in get_type_hints(kind) if (name, option) not in UNKNOWN]
    for option in names:
        assert READS[name](board, **{option: LIST_OPTIONS[option]}) is not None
    if name not in LISTS:
        return
    shown = standings(READS[name](board, **LIST_OPTIONS))
    assert {(s.window, s.scope, s.name) for s in shown} == {("daily", "country:PT", None)}
    assert [s.details for s in shown if s.player == "alice"] == [{"car": 1}]
    plain = standings(READS[name](board))
    assert {(s.window, s.scope, s.details) for s in plain} == {("all-time", "global", None)}
    assert {s.name is None for s in plain} == {name == "standing"}


def standings(answer: Any) -> list[toprung.Standing]:
    if isinstance(answer, toprung.Standing):
        return [answer]
    return list(getattr(answer, "standings", answer))


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        (options.LadderOptions, options.AskedLadder),
        (options.ListOptions, options.AskedList),
    ],
)
def test_what_can_be_given_is_what_is_asked(given: type, asked: type[msgspec.Struct]) -> None:
    assert get_type_hints(given) == get_type_hints(asked)
    assert given.__optional_keys__ == set(asked.__struct_fields__)  # type: ignore[attr-defined]
    described = inspect.getdoc(given) or ""
    assert [name for name in asked.__struct_fields__ if f"`{name}`" not in described] == []


@pytest.mark.parametrize(
    ("read", "kind", "defaults"),
    [
        (Leaderboard.standing, options.ListOptions, options.AskedList(names=False)),
        (Leaderboard.version, options.LadderOptions, options.AskedLadder()),
    ],
)
def test_hot_reads_spell_out_the_same_options(
    read: Read, kind: type, defaults: msgspec.Struct
) -> None:
    found = inspect.signature(read, eval_str=True).parameters.values()
    spelled = {p.name: p for p in found if p.kind is p.KEYWORD_ONLY}
    assert {name: p.annotation for name, p in spelled.items()} == get_type_hints(kind)
    assert {name: p.default for name, p in spelled.items()} == msgspec.structs.asdict(defaults)


@pytest.mark.parametrize("name", [*LISTS, *LADDERS])
def test_help_says_where_options_are_described(name: str) -> None:
    kind = "ListOptions" if name in LISTS else "LadderOptions"
    for owner in (toprung.Leaderboard, Leaderboard):
        method = getattr(owner, name)
        assert f"`toprung.{kind}`" in (inspect.getdoc(method) or "")
        assert name in {"standing", "version"} or f"Unpack[{kind}]" in str(
            inspect.signature(method)
        )
