"""Finding players by name; and databases from before names could be looked for."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import toprung
from tests.stores.older import make_older
from toprung.errors import Invalid


def test_find_by_name_and_by_id(tmp_path: Path) -> None:
    with toprung.open(str(tmp_path / "scores.db")) as boards:
        blitz = boards.create("blitz", scopes=["global", "country"])
        other = boards.create("other")
        blitz.submit_many([("p1", 10), ("p2", 30), ("p3", 20), ("max", 5)])
        other.submit("p4", 1)
        for player, name in (("p1", "Max"), ("p2", "MAXINE"), ("p3", "Ann"), ("p4", "Maxim")):
            boards.set_player(player, name=name, attributes={"country": "PT"})
        blitz.submit("p2", 31)
        found = blitz.find("max")
        assert [(s.player, s.name, s.rank) for s in found.standings] == [
            ("max", None, 4),  # by its id
            ("p1", "Max", 3),
            ("p2", "MAXINE", 1),
        ]
        assert (found.total, found.next, found.prev) == (4, None, None)
        assert [s.player for s in blitz.find("max", 2).standings] == ["max", "p1"]
        assert [s.player for s in blitz.find("max", scope="country:PT").standings] == ["p1", "p2"]
        assert blitz.find("zoe").standings == ()
        assert blitz.find("zoe").total == 4
        assert blitz.find("\\").standings == ()  # no id, and nobody's name
        for text in ("", "x" * 257, "a\nb", " ", "\u3000"):
            with pytest.raises(Invalid, match="text"):
                blitz.find(text)
        with pytest.raises(Invalid, match="limit"):
            blitz.find("max", 51)
        boards.erase("p1")
        assert [s.player for s in blitz.find("max").standings] == ["max", "p2"]


def test_names_of_an_older_file_are_found(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    with toprung.open(str(path)) as boards:
        boards.create("blitz").submit("p1", 1)
        boards.set_player("p1", name="Zoë")
    file = apsw.Connection(str(path))
    file.execute("DROP INDEX players_by_name; ALTER TABLE players DROP COLUMN folded")
    make_older(file.execute, 1)
    file.close()
    for _ in range(2):
        with toprung.open(str(path)) as boards:
            assert [s.player for s in boards["blitz"].find("ZOË").standings] == ["p1"]
            assert boards.verify() == []
