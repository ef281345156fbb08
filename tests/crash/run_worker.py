"""Submits signed scores, one after another, and says what became of each.

    run_worker.py TARGET FILE

FILE has the bodies of submissions as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import toprung
from toprung.errors import RunUsed


def main(target: str, file: str) -> None:
    with toprung.open(target) as boards:
        board = boards["cup"]
        for body in json.loads(Path(file).read_text()):
            try:
                result = board.submit(**body)
            except RunUsed:
                print(f"{body['player']} used", flush=True)
            else:
                said = "replayed" if result.replayed else "recorded"
                print(f"{body['player']} {said}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
