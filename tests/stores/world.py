"""A small world with every kind of event, and all that can be asked about it.

`make_data` fills databases with it, run by older versions of Toprung; tests ask today's the same.
So this uses only what all of those versions offer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from toprung import errors

BEGIN = "2026-11-12T10:00:00Z"
TAIL = "2026-11-15T12:00:00Z"
END = "2026-11-15T13:00:00Z"
"""When the last thing happened, and what answers refer to."""

KEYED: tuple[dict[str, Any], ...] = (
    {"player": "ann", "score": 120, "key": "ann-1"},
    {"player": "bob", "score": 95, "subscore": 7, "details": {"level": 3}, "key": "bob-1"},
    {"player": "cat", "score": 130, "at": "2026-11-14T09:00:00Z", "key": "cat-late"},
)
"""Submissions to `blitz` whose repeats are recognised."""

OWNED: dict[str, Any] = {"player": "dan", "score": 66, "key": "ann-1"}
"""A submission of the owner of an access key; versions that know no owners have none."""

PLAYERS = ("ann", "bob", "cat", "dan", "eve", "fay", "gus")


def fill(boards: Any, clock: Any) -> None:
    """Everything up to the checkpoint."""
    blitz = boards.create(
        "blitz",
        title="Blitz",
        subscore="desc",
        ranking="competition",
        windows=["all-time", "daily", "monthly"],
        scopes=["global", "country"],
    )
    for player, country in (("ann", "PT"), ("bob", "US"), ("cat", "PT"), ("eve", "US")):
        boards.set_player(player, name=player.title(), attributes={"country": country})
    boards.set_player("gus", name="Gus", avatar_url="https://example.org/gus.png")
    for day in range(3):
        for at, player in enumerate(("ann", "bob", "cat", "dan", "eve")):
            blitz.submit(player, 50 + 10 * ((at + day) % 4), subscore=day, details={"day": day})
        clock.advance(days=1)
    coins = boards.create("coins", policy="sum", decimals=2, windows=["all-time", "weekly"])
    coins.submit_many([("ann", "1.25"), ("bob", "2.50"), ("ann", "0.75"), ("fay", "9.99")])
    boards.create("laps", order="asc", tie_break="last", windows=["all-time"])
    boards["laps"].submit_many([("ann", 61_000), ("bob", 59_500)])
    boards.delete("laps")
    # Windows and scopes come and go.
    season = {"name": "s1", "starts": "2026-11-01T00:00:00Z", "ends": "2026-12-01T00:00:00Z"}
    boards.patch(
        "blitz",
        windows=["all-time", "daily", "weekly", season],
        scopes=["global", "country", "team"],
    )
    boards.set_player("bob", name="Bob", attributes={"country": "PT", "team": "red"})
    boards.set_player("dan", name="Dän", attributes={"team": "red"})
    blitz.submit("bob", 80)
    boards.patch("blitz", windows=["all-time", "daily", season], title="Blitz!")
    boards.create("laps", order="asc", policy="latest", windows=["all-time", "hourly"])
    boards["laps"].submit("cat", 62_000)
    for player, other in (("ann", "bob"), ("ann", "cat"), ("bob", "dan"), ("fay", "ann")):
        boards.befriend(player, other)
    boards.unfriend("ann", "cat")
    blitz.remove("eve")
    boards.erase("fay")


def go_on(boards: Any, clock: Any) -> dict[str, Any]:
    """What comes after the checkpoint; what was told of submissions with keys."""
    clock.move_to(TAIL)
    told = {each["key"]: receipt(boards["blitz"].submit(**each)) for each in KEYED}
    owned = owned_board(boards)
    if owned is not None:
        told["owned"] = receipt(owned.submit(**OWNED))
    boards["blitz"].submit("dan", 10, at="2026-11-13T12:00:00Z")
    boards.set_player("eve", name="Eve", attributes={"country": "DE"})
    if hasattr(boards, "patch_player"):
        boards.patch_player("eve", attributes={"team": "blue"})
    boards["blitz"].submit("eve", 77, subscore=5, details=[1, 2])
    clock.move_to(END)
    boards["laps"].submit_many([("ann", 60_500), ("bob", 60_500), ("cat", 61_500)])
    return told


def owned_board(boards: Any) -> Any:
    """`blitz` as an owner of access keys sees it; None in a version that knows no owners."""
    face = boards["blitz"]
    for_owner = getattr(face._face_of, "for_owner", None)
    return for_owner and type(face)(for_owner("studio"))


# --- asking ---------------------------------------------------------------------------------------


def answers(boards: Any) -> dict[str, Any]:
    """All there is to know, as JSON."""
    found = {
        f"{board} {each}": value
        for board in ("blitz", "coins", "laps")
        for each, value in _of_board(boards[board])
    }
    for player in PLAYERS:
        found[f"player {player}"] = _profile(boards, player)
        found[f"friends of {player}"] = sorted(_or_none(lambda p=player: boards.friends(p)) or [])
    return found


def receipt(result: Any) -> dict[str, Any]:
    """What a submission was told."""
    return {
        "submission": result.submission,
        "status": result.status,
        "scores": {name: str(each.score) for name, each in result.standings.items()},
    }


def _of_board(board: Any) -> Iterator[tuple[str, Any]]:
    windows = list(board.current_periods())
    yield "windows", windows
    for window in windows:
        periods = [each.period for each in board.periods(window)]
        yield f"periods of {window}", periods
        for period in periods:
            sizes = {
                each.scope: each.total
                for each in _or_none(lambda w=window, p=period: board.scopes(window=w, period=p))
                or []
            }
            if sizes:
                yield f"scopes of {window} {period}", sizes
            for scope in sizes:
                top = board.top(50, window=window, period=period, scope=scope)
                yield f"top of {window} {period} {scope}", [_standing(each) for each in top]
    for player in PLAYERS:
        past = _or_none(lambda p=player: board.submissions(p).submissions)
        yield f"submissions of {player}", [_submission(each) for each in past or ()]
        page = _or_none(lambda p=player: board.friends(p))
        if page is not None:
            yield f"friends of {player}", [_standing(each) for each in page.standings]


def _standing(standing: Any) -> list[Any]:
    return [
        standing.rank,
        standing.player,
        str(standing.score),
        standing.subscore,
        standing.achieved_at.isoformat(),
        standing.total,
        standing.name,
    ]


def _submission(past: Any) -> list[Any]:
    return [
        past.submission,
        str(past.score),
        past.subscore,
        past.at.isoformat(),
        past.recorded_at.isoformat(),
        past.status,
        past.details,
    ]


def _profile(boards: Any, player: str) -> list[Any] | None:
    found = _or_none(lambda: boards.player(player))
    return found and [found.player, found.name, found.avatar_url, dict(found.attributes)]


def _or_none(ask: Any) -> Any:
    with suppress(errors.NotFound):
        return ask()
    return None
