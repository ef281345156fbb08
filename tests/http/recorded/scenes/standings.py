"""Standings: pages with cursors both ways, one player, neighbours, friends, look-ups."""

from __future__ import annotations

from typing import Final

from tests.http.recorded.asking import Move, Scene, Step, ask, asks, bodies
from tests.http.recorded.scenes.world import AWKWARD, BLITZ, PLAYERS, encoded, score

_PAGES: Final = "GET /v1/boards/blitz/standings"
_MANY: Final[list[Step]] = [
    ask("POST /v1/boards/blitz/scores/batch", [score(p, 10) for p in AWKWARD]),
]

_OPTIONS: Final = (
    "limit=1",
    "limit=1000",
    "limit=3&numbers=string",
    "ranking=ordinal&limit=6",
    "ranking=competition&limit=6",
    "ranking=dense&limit=6",
    "include=details&limit=6",
    "include=percentile&limit=6",
    "include=details,percentile&limit=6&numbers=string&ranking=dense",
    "window=daily",
    "window=daily&period=2026-11-16",
    "window=all-time&period=all&limit=1",
    "scope=country:PT",
    "scope=country:S%C3%A3o%20Tom%C3%A9",
    "scope=country:S%C3%A3o+Tom%C3%A9",
    "scope=team:red&window=daily",
    "scope=country:XX",
    "scope=global&limit=1",
    "from=1&limit=1",
    "from=3&limit=2&ranking=competition",
    "from=20&limit=5",
    "from=21",
    "from=9000",
    "min_score=1300&max_score=1500",
    "min_score=1400",
    "max_score=0&limit=4",
    "min_score=5&max_score=6",
    "min_score=-7&max_score=-7&include=percentile",
)
_WRONG_PAGES: Final = (
    "limit=0",
    "limit=1001",
    "limit=-1",
    "limit=1.0",
    "limit=",
    "limit=9999999999999999999999",
    "numbers=x",
    "ranking=olympic",
    "include=names",
    "include=percentile,details",
    "include=",
    "window=hourly",
    "window=",
    "window=daily&period=2026-11-18",
    "window=daily&period=2026-01-01",
    "window=daily&period=today",
    "period=2026-11-17",
    "scope=country",
    "scope=colour:red",
    "scope=country:",
    "scope=",
    "from=0",
    "from=x",
    "from=2&cursor=x",
    "from=2&min_score=1",
    "min_score=x",
    "min_score=1.5",
    "min_score=9&max_score=1",
    "cursor=",
    "cursor=x",
    "cursor=AAAA",
    "colour=red",
    "limit=1&limit=1",
    "limit",
    "=1",
    "&limit=1",
    "scope=%FF",
    "scope=%zz",
)

_CURSORS: Final[list[Step]] = [
    ask(f"{_PAGES}?limit=3", keep="a"),
    ask(f"{_PAGES}?limit=3&cursor=<a.next>", keep="b"),
    ask(f"{_PAGES}?limit=5&cursor=<b.next>&ranking=competition&include=percentile", keep="c"),
    ask(f"{_PAGES}?limit=3&cursor=<c.prev>", keep="d"),
    ask(f"{_PAGES}?limit=100&cursor=<d.prev>&numbers=string"),
    ask(f"{_PAGES}?limit=100&cursor=<c.next>&include=details"),
    ask(f"{_PAGES}?limit=3&cursor=<a.next>&window=daily"),
    ask(f"{_PAGES}?limit=3&cursor=<a.next>&from=2"),
    ask(f"{_PAGES}?limit=3&cursor=<a.next>&min_score=2"),
    ask(f"{_PAGES}?limit=3&cursor=<a.next>&scope=country:PT"),
    ask(f"{_PAGES}?limit=3&cursor=<a.next>x"),
    ask(f"{_PAGES}?limit=2&min_score=0&max_score=1400", keep="r"),
    ask(f"{_PAGES}?limit=2&cursor=<r.next>", keep="s"),
    ask(f"{_PAGES}?limit=2&cursor=<s.prev>"),
    ask(f"{_PAGES}?limit=2&from=5", keep="f"),
    ask(f"{_PAGES}?limit=2&cursor=<f.prev>"),
    ask(f"{_PAGES}?limit=1&window=daily", keep="day"),
    ask(f"{_PAGES}?limit=1&scope=country:PT", keep="pt"),
    ask(f"{_PAGES}?limit=1&cursor=<pt.next>"),
]

_TAGS: Final[list[Step]] = [
    ask(f"{_PAGES}?limit=2", keep="tagged"),
    ask(f"{_PAGES}?limit=2", headers={"if-none-match": "<tagged.etag>"}),
    ask(f"{_PAGES}?limit=2", headers={"if-none-match": 'W/<tagged.etag>, "other"'}),
    ask(f"{_PAGES}?limit=2", headers={"if-none-match": "*"}),
    ask(f"{_PAGES}?limit=2", headers={"if-none-match": '"other"'}),
    ask("HEAD /v1/boards/blitz/standings?limit=2"),
    ask("HEAD /v1/boards/blitz/standings?limit=2", headers={"if-none-match": "<tagged.etag>"}),
    ask("HEAD /v1/boards/blitz/standings?limit=0"),
    ask("HEAD /v1/boards/blitz/standings/ann"),
    ask("PATCH /v1/players/ann", {"name": "Anne"}),
    ask(f"{_PAGES}?limit=2", headers={"if-none-match": "<tagged.etag>"}),
    ask("POST /v1/boards/blitz/scores", score("gus", 3)),
    ask(f"{_PAGES}?limit=2&cursor=<a.next>"),
]

_LATER: Final[list[Step]] = [
    Move("2026-11-18T06:00:00Z"),
    *asks(
        f"{_PAGES}?window=daily",
        f"{_PAGES}?window=daily&period=2026-11-17&limit=2",
        f"{_PAGES}?limit=2&cursor=<day.next>",
        "GET /v1/boards/blitz/standings/ann?window=daily",
        "GET /v1/boards/blitz/standings/ann?window=daily&period=2026-11-17",
    ),
    Move("2027-06-01T00:00:00Z"),
    *asks(
        f"{_PAGES}?limit=2&cursor=<day.next>",
        f"{_PAGES}?window=daily&period=2026-11-17",
        "GET /v1/boards/blitz/standings/ann?window=daily&period=2026-11-17",
    ),
]

_ONE: Final = "GET /v1/boards/blitz/standings/"
_STANDING: Final[list[Step]] = [
    *asks(
        *(
            f"{_ONE}{player}"
            for player in ("ann", "ann?numbers=string", "ann?include=details", "hal", "eve")
        ),
        f"{_ONE}dan?include=details,percentile&ranking=dense&scope=country:S%C3%A3o%20Tom%C3%A9",
        f"{_ONE}ben?ranking=competition",
        f"{_ONE}ben?ranking=olympic",
        f"{_ONE}ben?window=daily&scope=country:PT",
        f"{_ONE}cat?scope=country:PT",
        f"{_ONE}ann?include=x",
        f"{_ONE}ann?limit=1",
        f"{_ONE}ann?window=nope",
        f"{_ONE}ann?scope=nope:1",
        f"{_ONE}ann?window=daily&period=x",
        f"{_ONE}nobody",
        f"{_ONE}a%2Fb",
        f"{_ONE}%ff",
        f"{_ONE}%zz",
        f"{_ONE}..",
        _ONE,
        f"{_ONE}ann/",
        f"{_ONE}{'x' * 129}",
        "GET /v1/boards/nothing/standings/ann",
        *(f"{_ONE}{encoded(player)}" for player in AWKWARD),
    ),
    *asks(
        f"{_ONE}cat/around",
        f"{_ONE}ann/around?above=1&below=1",
        f"{_ONE}cat/around?above=0&below=0",
        f"{_ONE}hal/around?above=2&below=1&numbers=string",
        f"{_ONE}fay/around?above=1&below=3&ranking=competition&include=details,percentile",
        f"{_ONE}eve/around?above=100&below=100&ranking=dense",
        f"{_ONE}ann/around?window=daily&above=1&below=1",
        f"{_ONE}ann/around?scope=country:PT",
        f"{_ONE}dan/around?window=daily&period=2026-11-16",
        f"{_ONE}{encoded(AWKWARD[1])}/around?above=1&below=1",
        f"{_ONE}cat/around?above=-1",
        f"{_ONE}cat/around?below=101",
        f"{_ONE}cat/around?below=x",
        f"{_ONE}cat/around?cursor=x",
        f"{_ONE}nobody/around",
        f"{_ONE}cat/around?scope=country:PT",
    ),
    *asks(
        *(
            f"GET /v1/boards/blitz/around?{query}"
            for query in (
                "score=1400",
                "score=1350&above=1&below=1",
                "score=1500&above=0&below=2&ranking=competition",
                "score=99999999999&above=2&below=2&numbers=string",
                "score=-99&above=2&below=2&include=percentile",
                "score=1300&above=1&below=1&scope=country:PT&include=details",
                "score=1300&above=1&below=1&window=daily",
                "score=1300&above=1&below=1&window=daily&period=2026-11-16",
                "",
                "score=",
                "score=x",
                "score=1.5",
                "score=1&above=101",
                "score=1&score=2",
            )
        )
    ),
    *asks(
        *(
            f"GET /v1/boards/blitz/find?{query}"
            for query in (
                "text=an",
                "text=AN&limit=1",
                "text=ann&include=details,percentile&numbers=string",
                "text=eve",
                f"text={encoded(AWKWARD[0])}",
                "text=B&scope=country:PT&ranking=dense",
                "text=b&scope=country:NZ",
                "text=dan&window=daily&period=2026-11-16",
                "text=zzz",
                "text=",
                "",
                "text=a&limit=0",
                "text=a&limit=101",
                "text=a&cursor=x",
                f"text={'x' * 257}",
            )
        )
    ),
    ask("DELETE /v1/boards/blitz/standings/gus"),
    ask("DELETE /v1/boards/blitz/standings/gus"),
    ask("DELETE /v1/boards/blitz/standings/nobody"),
    ask("DELETE /v1/boards/nothing/standings/gus"),
    ask("DELETE /v1/boards/blitz/standings/hal?window=daily"),
    ask(f"{_ONE}gus"),
    ask("POST /v1/boards/blitz/scores", score("gus", -1)),
]

_LOOKUP: Final = "POST /v1/boards/blitz/standings/lookup"
_TOGETHER: Final[list[Step]] = [
    *bodies(
        _LOOKUP,
        {"players": ["ben", "nobody", "ann", "ben", "hal"]},
        {"players": []},
        {"players": ["nobody", "no-one"]},
        {"players": list(AWKWARD)},
        {"players": "ann"},
        {"players": ["ann", 7]},
        {"players": ["ann", "a/b"]},
        {"players": None},
        {"players": ["x"] * 1001},
        {"names": ["ann"]},
        {"players": ["ann"], "colour": "red"},
        {},
        [],
        b'{"players":["\\u0061nn"]}',
        b'{"players":["ann"],"players":["ben"]}',
        b"nonsense",
    ),
    *(
        ask(f"{_LOOKUP}?{query}", {"players": ["ann", "ben", "eve"]})
        for query in (
            "numbers=string",
            "include=details",
            "include=percentile&ranking=dense",
            "window=daily&scope=country:PT",
            "scope=country:NZ",
            "window=daily&period=2026-11-16",
            "window=nope",
            "limit=2",
        )
    ),
    ask("POST /v1/boards/nothing/standings/lookup", {"players": ["ann"]}),
    ask(_LOOKUP, {"players": ["ann"]}, headers={"content-type": "text/plain"}),
    ask("GET /v1/boards/blitz/standings/lookup"),
    ask("GET /v1/boards/blitz/standings/ann/friends"),
    ask("GET /v1/boards/blitz/standings/ann/friends?limit=2", keep="friends"),
    ask("GET /v1/boards/blitz/standings/ann/friends?limit=2&cursor=<friends.next>"),
    *asks(
        "GET /v1/boards/blitz/standings/ann/friends?include=details,percentile&numbers=string",
        "GET /v1/boards/blitz/standings/ann/friends?ranking=competition&window=daily",
        "GET /v1/boards/blitz/standings/ann/friends?ranking=dense&scope=country:PT",
        "GET /v1/boards/blitz/standings/ann/friends?window=daily&period=2026-11-16",
        "GET /v1/boards/blitz/standings/ben/friends",
        "GET /v1/boards/blitz/standings/nobody/friends",
        "GET /v1/boards/blitz/standings/stranger/friends",
        "GET /v1/boards/blitz/standings/ann/friends?limit=0",
        "GET /v1/boards/blitz/standings/ann/friends?limit=1001",
        "GET /v1/boards/blitz/standings/ann/friends?cursor=x",
        "GET /v1/boards/blitz/standings/ann/friends?from=1",
        "GET /v1/boards/nothing/standings/ann/friends",
    ),
]

PAGES = Scene(
    "pages",
    [
        *PLAYERS,
        *BLITZ,
        *_MANY,
        ask(_PAGES),
        *asks(*(f"{_PAGES}?{query}" for query in _OPTIONS)),
        *_CURSORS,
        *_TAGS,
        *_LATER,
    ],
)
WRONG_PAGES = Scene(
    "wrong-pages", [*BLITZ[:2], *asks(*(f"{_PAGES}?{query}" for query in _WRONG_PAGES))]
)
STANDING = Scene("standing", [*PLAYERS, *BLITZ, *_MANY, *_STANDING])
TOGETHER = Scene("together", [*PLAYERS, *BLITZ, *_MANY, *_TOGETHER])
