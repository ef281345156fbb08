"""What rows of the PostgreSQL database mean."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from toprung.domain.board import Board
from toprung.ports import Event


def read_board(row: Mapping[str, Any]) -> Board:
    """A board from its row; the same object for the same rules, so that it keeps its calendars."""
    return _board(row["id"], row["rules"], row["version"], row["generation"])


@lru_cache(maxsize=4096)
def _board(board_id: str, rules: str, version: int, generation: int) -> Board:
    board = Board.parse(board_id, msgspec.json.decode(rules))
    return board.recorded(version, generation)


def read_event(row: Mapping[str, Any]) -> Event:
    """An event from its row; a score's body is put together from columns and its route."""
    if row["kind"] != "score":
        body = msgspec.json.decode(row["body"])
        return Event(row["position"], row["recorded_at"], row["kind"], body)
    board, version, source, stops = msgspec.json.decode(row["route"])
    body = {
        "board": board,
        "version": version,
        "source": source,
        "route": {"stops": stops},
        "player": row["player"],
        "at": row["at"],
        "score": row["score"],
        "subscore": row["subscore"],
        "status": row["status"],
    }
    return Event(row["position"], row["recorded_at"], "score", body)
