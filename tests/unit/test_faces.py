"""Faces have the library's methods, each in its own way, also for type checkers."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, assert_type

import pytest

import toprung
from toprung import client, faces
from toprung.client import leaderboards as remote
from toprung.domain.standing import Page, Standing
from toprung.service import leaderboards as library

FACES = [toprung.Leaderboard, client.Leaderboard, remote.Leaderboard]


@pytest.mark.parametrize("face", FACES)
def test_a_face_has_every_method_of_the_library(face: type) -> None:
    for name, listed in vars(faces.BoardMethods).items():
        if isinstance(listed, faces.Method):
            found, known = getattr(face, name), getattr(library.Leaderboard, name)
            assert list(inspect.signature(found).parameters) == list(
                inspect.signature(known).parameters
            )
            assert found.__doc__


@pytest.mark.parametrize(
    "face",
    [toprung.Leaderboard, toprung.Leaderboards, client.Leaderboard, client.Leaderboards,
     remote.Leaderboard, remote.Leaderboards],
)  # fmt: skip
def test_a_face_can_be_extended(face: Any) -> None:
    extended: Any = type("Mine", (face,), {})
    assert extended.standings is face.standings


def test_a_face_that_lacks_a_method_is_not_made() -> None:
    with pytest.raises(KeyError, match=r"nothing\.activity"):

        class _Lacking(faces.BoardMethods, client.remote.RemoteFace, runs="nothing"):
            pass


def test_the_boards_of_a_service_can_be_referred_to_weakly() -> None:
    boards = client.connect("http://127.0.0.1:9")
    assert weakref.ref(boards._face_of)() is boards._face_of
    boards.close()


def types(here: toprung.Leaderboard, there: client.Leaderboard, later: remote.Leaderboard) -> None:
    """Never called: what type checkers make of the three faces."""
    assert_type(here.top(3), list[Standing])
    assert_type(there.around("ann", above=1), Page)
    total: Callable[..., Coroutine[Any, Any, int]] = later.total
    assert total is not None
    unbound: Callable[..., Page] = toprung.Leaderboard.around
    assert unbound is not None
