"""`toprung keys`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import answered, done, toprung


def test_keys_are_made_listed_and_revoked(tmp_path: Path) -> None:
    database = str(tmp_path / "mine.db")
    options = ("--name", "game", "--verb", "write", "--owner", "studio")
    key = done("keys", "create", "--db", database, *options).strip()
    assert key.startswith("tr_")
    key_id = key.split("_")[1]
    assert done("keys", "list", "--db", database).splitlines() == [
        "id        owner   verbs  boards  last used  name",
        f"{key_id}  studio  write  *       never      game",
    ]
    assert key.encode() not in (tmp_path / "mine.db").read_bytes()
    assert done("keys", "revoke", key_id, "--db", database) == f"revoked {key_id}\n"
    nothing = toprung("keys", "list", "--db", database)
    assert (nothing.returncode, nothing.stdout) == (0, "")
    again = toprung("keys", "revoke", key_id, "--db", database)
    assert (again.returncode, again.stderr) == (1, f"toprung: there is no key {key_id!r}\n")


def test_keys_as_json(tmp_path: Path) -> None:
    database = str(tmp_path / "mine.db")
    made = answered("keys", "create", "--db", database, "--board", "eu-*", "--board", "us-*")
    listed = answered("keys", "list", "--db", database)["keys"]
    assert made.pop("key").startswith(f"tr_{made['id']}_")
    assert listed == [made]
    assert made["boards"] == ["eu-*", "us-*"]
    assert made["owner"] == made["id"]
    assert answered("keys", "revoke", made["id"], "--db", database) == {"revoked": made["id"]}


def test_an_unknown_verb_is_refused(tmp_path: Path) -> None:
    refused = toprung("keys", "create", "--db", str(tmp_path / "mine.db"), "--verb", "fly")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "read, write, admin" in refused.stderr
