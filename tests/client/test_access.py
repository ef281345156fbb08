"""Keys: shown to services and to nobody else; made, listed and revoked through the client."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

import toprung
from tests.client.misbehaving import Script, misbehaving
from tests.http.serving import Serving, serving
from toprung import client
from toprung.client.address import Address
from toprung.errors import Invalid, NotAllowed, NotFound
from toprung.http.settings import ServiceSettings


@pytest.fixture(scope="module")
def guarded() -> Iterator[Serving]:
    with serving(ServiceSettings(needs_keys=True)) as running:
        yield running


def test_keys_are_made_listed_and_revoked(guarded: Serving) -> None:
    with client.connect(guarded.url, guarded.key) as admin:
        admin.create("eu-blitz")
        made, text = admin.keys.create("game", ["read", "write"], ["eu-*"])
        assert (made.name, made.verbs, made.boards) == ("game", ("read", "write"), ("eu-*",))
        with client.connect(guarded.url, text) as game:
            assert game["eu-blitz"].submit("a", 1).status == "accepted"
            assert next(game["eu-blitz"].watch()).token
            with pytest.raises(NotAllowed, match="'admin'"):
                game.create("eu-other")
        listed = {key.id: key for key in admin.keys.all()}
        assert listed[made.id].last_used_at is not None
        admin.keys.revoke(made.id)
        with pytest.raises(NotFound, match=made.id):
            admin.keys.revoke(made.id)
        with client.connect(guarded.url, text) as game, pytest.raises(NotAllowed):
            game.board("eu-blitz")
        with pytest.raises(Invalid, match="verbs"):
            admin.keys.create("game", ["fly"])


def test_nobody_comes_in_without_a_key(guarded: Serving) -> None:
    with (
        client.connect(guarded.url) as stranger,
        pytest.raises(NotAllowed, match="a key is required"),
    ):
        stranger.list()


def test_a_backup_is_a_database(guarded: Serving, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with client.connect(guarded.url, guarded.key) as boards:
        boards.create("backed-up").submit("a", 5)
        boards.backup(str(copy))
        with pytest.raises(Invalid, match="never overwrites"):
            boards.backup(str(copy))
    assert list(tmp_path.iterdir()) == [copy]
    with toprung.open(copy) as opened:
        assert opened["backed-up"].standing("a").score == 5


def test_a_backup_needs_the_right_key(guarded: Serving, tmp_path: Path) -> None:
    with client.connect(guarded.url) as boards, pytest.raises(NotAllowed):
        boards.backup(str(tmp_path / "copy.db"))
    assert list(tmp_path.iterdir()) == []


KEY = "tr_abcdefgh_secret"


@pytest.mark.parametrize(
    "url",
    ["http://scores.example", "http://10.0.0.7:8080", "http://localhost.evil.example"],
)
def test_a_key_is_not_sent_in_the_clear(url: str) -> None:
    with pytest.raises(Invalid, match="unencrypted") as caught:
        client.connect(url, KEY)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    client.connect(url, KEY, allow_insecure=True).close()
    client.connect(url).close()


@pytest.mark.parametrize(
    "url", ["https://scores.example", "http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1"]
)
def test_a_key_may_travel_encrypted_or_within_the_machine(url: str) -> None:
    with client.connect(url, KEY) as boards:
        assert KEY not in repr(boards)
        assert KEY not in repr(Address(url, KEY))


@pytest.mark.parametrize(
    "url",
    [
        "scores.db",
        "ftp://scores.example",
        "https://",
        "https://scores.example?x=1",
        "https://scores.example#x",
        "https://me:secret@scores.example",
        "https://scores.example:99999",
        "https://scores .example",
        "https://scores..example",
        f"https://{'a' * 64}.example",
        f"https://scores.example/{'a' * 2048}",
        "https://[::1",
        "https://scores.example/\n",
        "",
    ],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(Invalid, match=r"^url: ") as caught:
        client.connect(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "ключ"])
def test_a_key_that_is_none_is_refused_unseen(key: str) -> None:
    with pytest.raises(Invalid, match=r"^key: ") as caught:
        client.connect("https://scores.example", key)
    assert not key or key not in str(caught.value)


def test_a_service_may_live_below_a_path() -> None:
    script = Script()
    script.answer(200, b'{"friends":[]}')
    with misbehaving(script) as url, client.connect(f"{url}/eu/") as boards:
        assert boards.friends("a") == []
    assert script.requests[0].target == "/eu/v1/players/a/friends"


def test_without_its_extra_the_client_says_what_to_install() -> None:
    program = "import sys; sys.modules['httpx2'] = None; import toprung.client"
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 'pip install "toprung[client]"' in ended.stderr.splitlines()[-1]
