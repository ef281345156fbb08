"""The recordings: one file per scene, in which people can read and compare exchanges.

An exchange begins with `#` and its number. Lines of the request begin with `>`, those of the answer
with `<` for status and headers and `|` for the body, which is as it was sent. Where a cluster
answers differently, the whole of its answer follows, with `cluster` before each line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import unified_diff
from itertools import zip_longest
from pathlib import Path
from typing import Final

from tests.http.recorded.asking import Ask
from tests.http.recorded.playing import Answered

FOLDER: Final = Path(__file__).parents[1] / "data" / "recorded"
_CLUSTER: Final = "cluster "
_SHOWN_MAX: Final = 300


def path_of(scene: str) -> Path:
    """Where the recording of a scene lies."""
    return FOLDER / f"{scene}.txt"


def recording(
    embedded: Sequence[tuple[Ask, Answered]], cluster: Sequence[tuple[Ask, Answered]]
) -> str:
    """The exchanges of a scene on both profiles, as they are written down."""
    both = enumerate(zip(embedded, cluster, strict=True), 1)
    return "".join(exchange(at, ask, one, other) for at, ((ask, one), (_, other)) in both)


def exchange(number: int, ask: Ask, embedded: Answered, cluster: Answered) -> str:
    """One exchange, as it is written down."""
    lines = [f"# {number}", *request_lines(ask), *answer_lines(embedded)]
    if cluster != embedded:
        lines += [_CLUSTER + line for line in answer_lines(cluster)]
    return "\n".join(lines) + "\n\n"


def request_lines(ask: Ask) -> list[str]:
    """A request for people; a long body is cut."""
    lines = [f"> {ask.method} {ask.address}"]
    lines += [f"> {name}: {text}" for name, text in ask.headers.items()]
    if ask.body is not None:
        body = ask.body.decode("utf-8", "backslashreplace").replace("\n", "\\n")
        cut = f" and {len(body) - _SHOWN_MAX} more" if len(body) > _SHOWN_MAX else ""
        lines += [f"> {body[:_SHOWN_MAX]}{cut}"]
    return [line[: 2 * _SHOWN_MAX] for line in lines]


def answer_lines(answered: Answered) -> list[str]:
    """An answer, with nothing left out."""
    lines = [f"< {answered.status}"]
    lines += [f"< {name}: {text}" for name, text in answered.headers]
    return lines + [f"| {line}" for line in answered.body.split("\n")]


def recorded(text: str, profile: str) -> list[list[str]]:
    """The lines of every exchange of a recording, as a profile answers it."""
    found = []
    for part in text.removesuffix("\n\n").split("\n\n# "):
        lines = part.split("\n")[1:]
        requests = [line for line in lines if line.startswith(">")]
        answers = [line for line in lines if line.startswith(("<", "|"))]
        others = [line.removeprefix(_CLUSTER) for line in lines if line.startswith(_CLUSTER)]
        found.append(requests + (others if others and profile == "cluster" else answers))
    return found


def differences(exchanges: Sequence[tuple[Ask, Answered]], known: Sequence[list[str]]) -> list[str]:
    """What differs from a recording, exchange by exchange, for people to read."""
    nothing: list[str] = []
    present = [[*request_lines(ask), *answer_lines(answered)] for ask, answered in exchanges]
    return [
        "\n".join([f"exchange {number}: {(now or was)[0]}", *_difference(was, now)])
        for number, (was, now) in enumerate(zip_longest(known, present, fillvalue=nothing), 1)
        if was != now
    ]


def _difference(was: list[str], now: list[str]) -> list[str]:
    """Line by line and member by member, or as it is where that shows nothing."""
    lines = unified_diff(_spread(was), _spread(now), "recorded", "answered", lineterm="", n=2)
    return list(lines) or [f"recorded {was!r}", f"answered {now!r}"]


def _spread(lines: list[str]) -> list[str]:
    """The lines, those of JSON one line per member."""
    spread: list[str] = []
    for line in lines:
        try:
            spread += json.dumps(json.loads(line.removeprefix("| ")), indent=1).split("\n")
        except ValueError:
            spread.append(line)
    return spread
