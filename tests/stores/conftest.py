"""An empty cluster, as the tests of clusters have it."""

from __future__ import annotations

from tests.cluster.conftest import cluster_file

__all__ = ["cluster_file"]
