"""A real service on a real socket, and boards that no other test uses."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from tests.conftest import RunningService

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def service() -> Iterator[RunningService]:
    running = RunningService("--db", "served.db")
    yield running
    code, complaints = running.stop()
    assert (code, complaints) == (0, "")


@pytest.fixture(scope="session")
def http(service: RunningService) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=service.url, timeout=20) as client:
        yield client


MakeBoard = Callable[..., str]


@pytest.fixture
def make_board(http: httpx2.Client) -> MakeBoard:
    """Create a board with a name of its own and the given rules."""

    def make(**rules: Any) -> str:
        board = f"board-{next(_numbers)}"
        answer = http.put(f"/v1/boards/{board}", json=rules)
        assert answer.status_code == 201, answer.text
        return board

    return make


@pytest.fixture
def board(make_board: MakeBoard) -> str:
    return make_board(windows=["all-time", "daily"])


@pytest.fixture
def player() -> str:
    """A player that no other test uses."""
    return f"player-{next(_numbers)}"


def problem_of(answer: httpx2.Response, status: int, slug: str) -> Any:
    """The problem document of an answer, which must have this status and type."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["type"] == f"/docs#{slug}"
    assert problem["status"] == status
    assert problem["request"] == answer.headers["x-request-id"]
    return problem


def pointers(problem: Any) -> list[str]:
    return [error["pointer"] for error in problem["errors"]]
