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
        "id        owner   verbs  boards  addresses  expires  last used  name",
        f"{key_id}  studio  write  *       any        never    never      game",
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
    assert "read, write, moderate, admin" in refused.stderr


def test_keys_are_changed_and_rotated(tmp_path: Path) -> None:
    database = ("--db", str(tmp_path / "mine.db"))
    limits = ("--expires", "2097-01-01T00:00:00Z", "--address", "10.0.0.0/8")
    made = answered("keys", "create", *database, "--name", "game", "--verb", "read", *limits)
    assert (made["expires_at"], made["addresses"]) == ("2097-01-01T00:00:00Z", ["10.0.0.0/8"])
    changes = ("--verb", "write", "--board", "eu-*", "--expires", "never", "--address", "any")
    assert done("keys", "edit", made["id"], *database, *changes) == f"changed {made['id']}\n"
    changed = answered("keys", "edit", made["id"], *database, "--name", "other")
    assert (changed["verbs"], changed["boards"], changed["name"]) == (["write"], ["eu-*"], "other")
    assert (changed["expires_at"], changed["addresses"]) == (None, [])
    new = done("keys", "rotate", made["id"], *database, "--overlap", "60").strip()
    old, fresh = answered("keys", "list", *database)["keys"]
    assert new.startswith(f"tr_{fresh['id']}_")
    assert old["expires_at"] is not None
    assert (fresh["owner"], fresh["verbs"], fresh["expires_at"]) == (made["id"], ["write"], None)
    nothing = toprung("keys", "edit", made["id"], *database)
    assert nothing.returncode == 2
    assert "at least one thing to change" in nothing.stderr
    unknown = toprung("keys", "rotate", "nobody", *database)
    assert (unknown.returncode, unknown.stderr) == (1, "toprung: there is no key 'nobody'\n")
