"""How often a process asks for the leases that it has."""

from __future__ import annotations

import pytest

import toprung
from toprung.ports import Lease
from toprung.service.holding import RENEW_SECONDS
from toprung.testing.clock import FrozenClock
from toprung.waiting.blocking import run_blocking


def test_a_lease_is_renewed_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """As time passes, by the clock that everything else goes by, and not at every step."""
    clock = FrozenClock("2026-11-15T12:00:00Z")
    taken: list[str] = []
    with toprung.open("memory:", clock=clock) as boards:
        background = boards._face_of.background
        take = background._take

        async def counted(name: str) -> Lease | None:
            taken.append(name)
            return await take(name)

        monkeypatch.setattr(background, "_take", counted)
        for _ in range(3):
            assert run_blocking(background._lease("jobs")) is not None
        assert taken == ["jobs"]
        clock.advance(seconds=RENEW_SECONDS)
        assert run_blocking(background._lease("jobs")) is not None
        assert taken == ["jobs"] * 2
