"""A replay validator: claims submissions that wait, plays them again, and decides.

The game is a toy. A seed makes a row of doors, behind each of which is some gold; whoever plays
opens one door after another, and may not open one twice. What a player did is in the `details` of
the submission: the seed, and the doors in order. Played again, they must give the score.

    python examples/replay_validator.py scores.db
    python examples/replay_validator.py http://127.0.0.1:8080 --key tr_...

Any number of these may run at the same time: a claim belongs to one of them, and ends by itself if
that one does.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import Any

import toprung

DOORS = 100
MOVES_MAX = 20
SECONDS = 60
"""How long a claim lasts: much longer than a replay."""


def gold_of(seed: int) -> list[int]:
    """How much is behind each door."""
    drawn = random.Random(seed)
    return [drawn.randrange(100) for _ in range(DOORS)]


def play(details: Any) -> int:
    """The score of a game; raises ValueError if it cannot have been played."""
    if not isinstance(details, dict):
        raise ValueError("there is no replay")
    seed, moves = details.get("seed"), details.get("moves")
    if type(seed) is not int or not isinstance(moves, list) or len(moves) > MOVES_MAX:
        raise ValueError("the replay is not one of this game")
    if not all(type(door) is int and 0 <= door < DOORS for door in moves):
        raise ValueError("the replay opens doors that do not exist")
    if len(set(moves)) < len(moves):
        raise ValueError("the replay opens a door twice")
    gold = gold_of(seed)
    return sum(gold[door] for door in moves)


def judge(waiting: Any) -> tuple[str, str]:
    """The verdict about a submission, and why."""
    try:
        score = play(waiting.details)
    except ValueError as error:
        return "reject", str(error)
    if score != waiting.score:
        return "reject", f"the replay gives {score}, not {waiting.score}"
    return "accept", "the replay gives this score"


def validate(boards: Any, name: str, board: str | None = None) -> int:
    """Decide everything that waits and that nobody else has claimed; how many there were."""
    done = 0
    while True:
        claimed = boards.claim_review(name, SECONDS, board=board)
        if claimed.submission is None:
            return done
        verdict, reason = judge(claimed.submission)
        boards.decide(
            claimed.submission.submission, verdict, reason=reason, by=name, claim=claimed.claim
        )
        print(f"{claimed.submission.player}: {verdict} ({reason})")
        done += 1


def main() -> None:
    """Decide what waits now."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", help="a database file, or the URL of a service")
    parser.add_argument("--key", help="an access key of the service")
    parser.add_argument("--board", help="only this board")
    parser.add_argument("--name", default="replay-validator", help="who decides")
    options = parser.parse_args()
    if options.target.startswith(("http://", "https://")):
        from toprung.client import connect

        opened: Any = connect(options.target, key=options.key)
    else:
        opened = toprung.open(options.target)
    with opened as boards:
        print(f"decided {validate(boards, options.name, options.board)}")


if __name__ == "__main__":
    sys.exit(main())
