"""Run by the environment of the `leaderboard` package: answers calls on stdin with JSON lines."""

from __future__ import annotations

import json
import sys
import time

import leaderboard.leaderboard as package  # type: ignore[import-not-found, unused-ignore]


class Child:
    """The package's board on the ZSET that was filled."""

    def __init__(self, port: int, name: str = "board:0") -> None:
        self.board = package.Leaderboard(name, host="127.0.0.1", port=port, page_size=11)
        self.questions = {
            "standing": self.board.score_and_rank_for,
            "top": self.board.top,
            "around": self.board.around_me,
            "submit": lambda member: self.board.change_score_for(member, 5),
        }

    def times(self, question: str, asked: list[object], seconds: float) -> list[float]:
        call = self.questions[question]
        taken = []
        end = time.perf_counter_ns() + int(seconds * 1e9)
        for one in asked:
            begin = time.perf_counter_ns()
            call(one)
            now = time.perf_counter_ns()
            taken.append((now - begin) / 1000)
            if now > end:
                break
        return taken

    def put(self, board: str, member: str, score: int) -> None:
        self.board.rank_member_in(board, member, score)

    def add(self, board: str, member: str, delta: int) -> None:
        self.board.change_score_for_member_in(board, member, delta)

    def all(self, board: str) -> list[list[object]]:
        rows = self.board.all_leaders_from(board)
        return [[row["rank"], row["member"].decode(), row["score"]] for row in rows]


def main() -> None:
    """Answer until stdin ends."""
    child = Child(int(sys.argv[1]))
    for line in sys.stdin:
        call, *arguments = json.loads(line)
        print(json.dumps(getattr(child, call)(*arguments)), flush=True)


if __name__ == "__main__":
    main()
