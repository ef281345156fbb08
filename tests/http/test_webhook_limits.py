"""How many webhooks there may be, on both profiles."""

from __future__ import annotations

import asyncio

import pytest

import toprung
from tests.http.conftest import Targets
from toprung.errors import Invalid
from toprung.service.webhooks import service

URL = "https://example.org/hook"


def test_no_more_webhooks_than_there_may_be_however_many_are_put_at_once(
    targets: Targets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "WEBHOOKS_MAX", 3)

    target = targets.fresh()

    async def main() -> None:
        async with toprung.open_async(target) as boards:
            puts = (boards.webhooks.put(f"w{at}", URL, ["board.changed"]) for at in range(12))
            found = await asyncio.gather(*puts, return_exceptions=True)
            assert sum(isinstance(each, Invalid) for each in found) == 9
            known = await boards.webhooks.list()
            assert len(known) == 3
            again = await boards.webhooks.put(known[0].id, f"{URL}/2", ["board.changed"])
            assert again.url == f"{URL}/2"
            await boards.webhooks.delete(known[1].id)
            await boards.webhooks.put("new", URL, ["board.changed"])

    asyncio.run(main())
