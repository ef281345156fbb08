"""Empty clusters on the servers that tests share, with each kind of index."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.testing.servers import PostgresServer, RedisServer, valkey_program


@pytest.fixture
def cluster_file(postgres: PostgresServer, redis_server: RedisServer, tmp_path: Path) -> Path:
    """The settings of an empty cluster."""
    workbench = ClusterWorkbench(postgres.url, redis_server.url)
    asyncio.run(workbench.make())
    file = tmp_path / "cluster.toml"
    file.write_text(
        "[cluster]\n"
        f'journal_url = "{postgres.url}"\n'
        f'index_url = "{redis_server.url}"\n'
        f'schema = "{workbench.settings.schema}"\n'
        f'prefix = "{workbench.settings.prefix}"\n'
        f'log_key = "{tmp_path / "log-key"}"\n'
    )
    return file


INDEXES = ["redis_server", "redis_cluster"]
if valkey_program() is not None:
    INDEXES.append("valkey_server")


@pytest.fixture(params=INDEXES)
def index_url(request: pytest.FixtureRequest) -> str:
    """Each kind of index that the machine offers, in turn."""
    return str(request.getfixturevalue(request.param).url)
