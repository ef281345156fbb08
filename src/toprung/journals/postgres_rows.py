"""What rows of the PostgreSQL database mean."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from toprung.domain.board import Board
from toprung.domain.events import Event, Scored, read_event
from toprung.domain.ladder import Route


def read_board(row: Mapping[str, Any]) -> Board:
    """A board from its row; the same object for the same rules, so that it keeps its calendars."""
    return _board(row["id"], row["rules"], row["version"], row["generation"])


@lru_cache(maxsize=4096)
def _board(board_id: str, rules: str, version: int, generation: int) -> Board:
    board = Board.read(board_id, msgspec.json.decode(rules))
    return board.recorded(version, generation)


def event_of(row: Mapping[str, Any]) -> Event:
    """An event from its row; a score's body is put together from columns and its route."""
    if row["kind"] != "score":
        return read_event(row["position"], row["recorded_at"], row["kind"], row["body"])
    body = Scored(
        *read_route(row["route"]),
        row["player"],
        row["at"],
        row["score"],
        row["subscore"],
        row["status"],
    )
    return Event(row["position"], row["recorded_at"], body)


@lru_cache(maxsize=1024)
def read_route(text: str) -> tuple[str, int, str, Route]:
    """Board, version, source and route: thousands of events share one."""
    board, version, source, stops = msgspec.json.decode(text)
    return board, version, source, msgspec.convert({"stops": stops}, Route)
