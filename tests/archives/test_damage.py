"""Archives whose files are damaged anywhere: an answer is right, or there is none."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from tests.archives.filed import Filed, set_group_rows
from tests.archives.test_ladders import PLAYERS, answers, told
from toprung.archives.index import ArchiveIndex
from toprung.errors import ArchiveDamaged, ToprungError

FLIPS = 250

ROWS = [(player, number % 3, number % 2, 0) for number, player in enumerate(PLAYERS)]


@pytest.mark.parametrize("which", ["entries", "index"])
def test_a_byte_is_another_one(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    seed = int(request.config.getoption("hypothesis_seed") or 0)
    print(f"seed {seed}")
    rng = random.Random(seed)

    async def main() -> None:
        found = await told(tmp_path, {}, ROWS, "global")
        filed, ladder = found.filed, found.past[1]
        whole = await filed.index.slice(ladder, 0, 100)
        keys = [record[: 8 * found.board.shape.order] for record in whole.records]
        expected = await answers(filed.index, ladder, keys)
        assert filed.period.files is not None
        path = tmp_path / "archive" / getattr(filed.period.files, which)
        content = path.read_bytes()
        outcomes = set()
        for _ in range(FLIPS):
            at, bit = rng.randrange(len(content)), 1 << rng.randrange(8)
            path.write_bytes(content[:at] + bytes([content[at] ^ bit]) + content[at + 1 :])
            outcomes.add(await outcome(filed, ladder, keys, expected))
            with pytest.raises(ArchiveDamaged):
                await filed.archives.check(filed.period)
        assert ArchiveDamaged.__name__ in outcomes
        assert outcomes <= {"right", ArchiveDamaged.__name__}  # and not that the store is away
        path.write_bytes(content)
        assert await outcome(filed, ladder, keys, expected) == "right"
        filed.index.close()
        await found.opened.boards.close()

    set_group_rows(monkeypatch, 4)
    asyncio.run(main())


async def outcome(filed: Filed, ladder: Any, keys: list[bytes], expected: list[Any]) -> str:
    """What becomes of all questions, when nothing is in memory."""
    index = ArchiveIndex(
        filed.index._journal, filed.index._reader, filed.index._clock, filed.archives.files
    )
    try:
        found = await answers(index, ladder, keys)
    except ToprungError as error:
        return type(error).__name__
    finally:
        index.close()
    return "right" if found == expected else "wrong"


def test_a_file_of_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        found = await told(tmp_path, {}, ROWS, "global")
        files = found.filed.period.files
        assert files is not None
        for content in (b"", b"PAR1", b"PAR1" * 100):
            (tmp_path / "archive" / files.entries).write_bytes(content)
            with pytest.raises(ArchiveDamaged):
                await opened_again(found.filed).size(found.past[1])
        found.filed.index.close()
        await found.opened.boards.close()

    def opened_again(filed: Filed) -> ArchiveIndex:
        index = filed.index
        return ArchiveIndex(index._journal, index._reader, index._clock, filed.archives.files)

    asyncio.run(main())
