"""Record what services answer: `python -m tests.http.record [scene...]`.

It is for the release whose answers are to stay as they are. Later ones are compared with it by
`test_recorded_answers`; to record again is to say that an answer was wrong, and the difference
belongs into the change log.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from tests.http.conftest import Targets
from tests.http.recorded.files import path_of, recording
from tests.http.recorded.playing import played
from tests.http.recorded.scenes import SCENES
from toprung.testing.servers import PostgresServer, RedisServer


def record(names: Iterable[str]) -> None:
    """Play scenes, by default all of them, on both profiles and write their recordings."""
    wanted = set(names) or {scene.name for scene in SCENES}
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(PostgresServer()) as postgres,
        closing(RedisServer()) as redis,
    ):
        embedded = Targets("embedded", Path(folder), None)
        cluster = Targets("cluster", Path(folder), (postgres.url, redis.url))
        for scene in SCENES:
            if scene.name in wanted:
                text = recording(*(played(scene, each.fresh()) for each in (embedded, cluster)))
                path = path_of(scene.name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())


if __name__ == "__main__":
    record(sys.argv[1:])
