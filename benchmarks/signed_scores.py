"""What does it cost to check a signature: POST one with a run, over POST one without?

Both come with the same access key, and are durable. wrk sends bodies that were made before: a
signed one is of use once. What a run is recognised by is claimed like an idempotency key, so that
is the third contestant.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from functools import partial
from itertools import count
from pathlib import Path

import toprung
from benchmarks import harness, servers
from benchmarks.http_routes import SERVED, Ask, compare, fill, serving, wrk
from toprung.domain.trust.runs import Run

CONNECTIONS = 64
BODIES = harness.amount(60_000, smoke=1_500)
IS_SMOKE = BODIES == 1_500
"""More than can be sent in one turn."""

SUBMIT = """
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer {key}"
local bodies, at = {{}}, 0
for line in io.lines("{file}") do bodies[#bodies + 1] = line end
request = function()
  at = at + 1
  return wrk.format("POST", "/v1/boards/blitz/scores", nil, bodies[at] or {spare})
end
"""


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("signed_scores")
    if servers.missing("wrk"):
        print("\nSigned scores: not measured, wrk is missing (scripts/system-packages wrk)")
        return report
    harness.print_header("Signed scores against others", players=options.size)
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as name:
        folder = Path(name)
        fill(folder, options.size)
        with toprung.open(str(folder / SERVED)) as boards:
            assert boards.keys is not None
            _, key = boards.keys.create("bench")
            makers = {
                "plain": _plain,
                "with an idempotency key": _keyed,
                "signed": partial(_signed, boards["blitz"]),
            }
            for kind, make in makers.items():
                for turn in range(options.rounds + 1):
                    _write(folder, f"{kind}-{turn}", key, options.size, make)
        command = ["-m", "toprung", "serve", "--require-keys", "--port", "0", "--db"]
        with serving([*command, str(folder / SERVED)]) as line:
            found = re.search(r":(\d+) ", line)
            assert found is not None, line
            url = f"http://127.0.0.1:{found[1]}"
            medians = compare(options.rounds, {kind: _ask(url, folder, kind) for kind in makers})
    report.add_medians("submit", medians, "requests/s")
    report.add_bar("signed-submit", medians["signed"] / medians["plain"])
    return report


def _ask(url: str, folder: Path, kind: str) -> Ask:
    turns = count()

    def ask(seconds: int) -> float:
        return wrk(url, CONNECTIONS, folder / f"{kind}-{next(turns)}.lua", seconds)

    return ask


def _write(folder: Path, name: str, key: str, size: int, make: object) -> None:
    """The bodies of one turn, and the script that sends them."""
    assert callable(make)
    rng = random.Random(f"{harness.SEED} {name}")
    rows = [(f"{rng.randrange(size):012d}", rng.randrange(10**7, 2 * 10**7)) for _ in range(BODIES)]
    text = "\n".join(make(at, *row) for at, row in enumerate(rows))
    (folder / name).write_text(text)
    spare = "bodies[1]" if IS_SMOKE else '"exhausted"'  # a repeat is quicker, so it is no figure
    (folder / f"{name}.lua").write_text(SUBMIT.format(key=key, file=folder / name, spare=spare))


def _plain(_at: int, player: str, score: int) -> str:
    return f'{{"player":"{player}","score":{score}}}'


def _keyed(at: int, player: str, score: int) -> str:
    return f'{{"player":"{player}","score":{score},"key":"{player}-{score}-{at}"}}'


def _signed(board: toprung.Leaderboard, _at: int, player: str, score: int) -> str:
    run: Run = board.run(player)
    signature = run.sign("blitz", player, score)
    return f'{{"player":"{player}","score":{score},"run":"{run.run}","signature":"{signature}"}}'


if __name__ == "__main__":
    harness.main(run)
