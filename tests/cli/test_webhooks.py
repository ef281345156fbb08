"""`toprung webhook`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import answered, done, toprung
from toprung.domain.webhooks import parse_secret
from toprung.senders.poster import IS_PRIVATE

URL = "http://127.0.0.1:9/hook"


def test_webhooks_are_set_listed_tested_and_deleted(tmp_path: Path) -> None:
    where = ("--db", str(tmp_path / "mine.db"))
    secret = done("webhook", "set", "chat", URL, "--event", "leader.changed", *where).strip()
    parse_secret(secret)
    assert done("webhook", "list", *where).splitlines() == [
        "id    events          boards  state    url",
        f"chat  leader.changed  *       enabled  {URL}",
    ]
    shown = done("webhook", "show", "chat", *where)
    assert URL in shown
    assert secret not in shown
    tried = toprung("webhook", "test", "chat", *where)
    assert tried.returncode == 1
    assert tried.stdout == f"not delivered: the receiver {IS_PRIVATE}\n"
    nothing = toprung("webhook", "deliveries", "chat", *where)
    assert (nothing.returncode, nothing.stderr) == (0, "there are no messages\n")
    unknown = toprung("webhook", "replay", "chat", "msg_1", *where)
    assert unknown.returncode == 1
    assert "there is no message 'msg_1'" in unknown.stderr
    assert done("webhook", "delete", "chat", *where) == "deleted chat\n"
    assert toprung("webhook", "show", "chat", *where).returncode == 1


def test_webhooks_as_json(tmp_path: Path) -> None:
    where = ("--db", str(tmp_path / "mine.db"))
    made = answered("webhook", "set", "chat", URL, "--board", "eu-*", *where)
    parse_secret(made.pop("secret"))
    assert made["events"] == ["*"]
    assert answered("webhook", "show", "chat", *where) == made
    assert answered("webhook", "list", *where) == {"webhooks": [made]}
    assert answered("webhook", "deliveries", "chat", *where)["deliveries"] == []
    assert answered("webhook", "delete", "chat", *where) == {"deleted": "chat"}
