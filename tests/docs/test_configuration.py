"""The configuration page names every setting and every variable, and no others."""

from __future__ import annotations

import re
from pathlib import Path

from toprung.config import ClusterSettings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/configuration.md").read_text()


def test_every_cluster_setting_is_documented_with_its_variable() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| `(TOPRUNG_\w+)` \|", PAGE, re.MULTILINE))
    fields = ClusterSettings.__struct_fields__
    assert rows == {name: f"TOPRUNG_{name.upper()}" for name in fields}


def test_every_variable_that_the_program_reads_is_documented() -> None:
    """What only the servers of tests read is no setting, and told of where they are."""
    program = ROOT / "src/toprung"
    files = set(program.rglob("*.py")) - set((program / "testing").rglob("*.py"))
    sources = [path.read_text() for path in files]
    read = {name for text in sources for name in re.findall(r'environ\.get\("(TOPRUNG_\w+)"', text)}
    assert read
    assert read <= set(re.findall(r"`(TOPRUNG_\w+)`", PAGE))
