"""The process that is killed: submits from several threads and prints what was acknowledged.

Run as a script: path, seed, tail (events between checkpoints), synchronous. Every submission
carries a token of its own in its details, so that each can be found again exactly. It prints

    starting                    before the database is opened
    try <token> <json>          before a keyed submission is sent (it may be sent again later)
    ack <token> [<token>...]    once they are acknowledged
"""

from __future__ import annotations

import json
import random
import sys
import threading
from itertools import count
from typing import Any

import toprung
from toprung.profiles import embedded

PLAYERS = [f"player-{number}" for number in range(12)]
BOARDS: dict[str, dict[str, Any]] = {
    "sum": {"policy": "sum", "windows": ["all-time", "daily"]},
    "best": {"policy": "best", "windows": ["all-time", "weekly"], "scopes": ["country"]},
}
THREADS = 3


def main(path: str, seed: str, tail: str) -> None:
    embedded.TAIL_MAX = int(tail)
    say("starting")
    boards = toprung.open(path)
    for board_id, rules in BOARDS.items():
        boards.replace(board_id, **rules)
    threads = [
        threading.Thread(target=write, args=(boards, f"{seed}-{number}"), daemon=True)
        for number in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def write(boards: toprung.Leaderboards, name: str) -> None:
    """Submit for ever."""
    rng = random.Random(name)
    for number in count():
        board_id = rng.choice(list(BOARDS))
        board = boards[board_id]
        token = f"{name}.{number}"
        kind = rng.randrange(10)
        if kind < 4:
            row = submission(rng, token)
            board.submit(**row)
            say("ack", token)
        elif kind < 7:
            row = submission(rng, token) | {"key": token}
            say("try", token, json.dumps({"board": board_id, **row}))
            board.submit(**row)
            if rng.randrange(3) == 0:  # as a client does that heard no answer
                assert board.submit(**row).replayed
            say("ack", token)
        elif kind < 9:
            tokens = [f"{token}.{at}" for at in range(rng.randrange(1, 30))]
            result = board.submit_many([submission(rng, token) for token in tokens])
            assert result.accepted + result.unchanged == len(tokens)
            say("ack", *tokens)
        else:
            attributes = {"country": rng.choice(["DE", "US"])}
            boards.set_player(rng.choice(PLAYERS), attributes=attributes)


def submission(rng: random.Random, token: str) -> dict[str, Any]:
    return {
        "player": rng.choice(PLAYERS),
        "score": rng.randrange(1000),
        "details": {"token": token},
    }


def say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
