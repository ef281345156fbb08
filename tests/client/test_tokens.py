"""Players' tokens in the client: a text, or a function that is asked each time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests.http.issuer import Issuer
from tests.http.serving import Serving, serving
from toprung import client
from toprung.client.address import Address
from toprung.errors import Invalid, NotAllowed
from toprung.http.settings import ServiceSettings


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture(scope="module")
def guarded(issuer: Issuer, tmp_path_factory: Any) -> Iterator[Serving]:
    tokens = issuer.settings(tmp_path_factory.mktemp("keys"))
    with serving(ServiceSettings(needs_keys=True, tokens=tokens)) as running:
        with client.connect(running.url, running.key) as admin:
            admin.create("arena", trust="player", public=True)
            admin.create("club", trust="player")
            assert admin["club"].rules().trust == "player"
        yield running


def test_a_player_submits_reads_and_watches(guarded: Serving, issuer: Issuer) -> None:
    with client.connect(guarded.url, token=issuer.token("alice")) as mine:
        result = mine["club"].submit("alice", 5, details={"map": "harbour"})
        assert result.standings["all-time"].rank == 1
        assert mine["club"].standing("alice", details=True).details == {"map": "harbour"}
        assert len(mine["club"].submissions("alice").submissions) == 1
        assert next(mine["arena"].watch(top=1)).token
        for refused in (
            lambda: mine["club"].submit("bob", 5),
            lambda: mine["club"].submit_many([("alice", 6)]),
            mine["club"].top,
            lambda: mine.create("mine"),
        ):
            with pytest.raises(NotAllowed):
                refused()


def test_a_function_is_asked_for_every_request(guarded: Serving, issuer: Issuer) -> None:
    asked: list[str] = []

    def fresh() -> str:
        asked.append(issuer.token("alice" if len(asked) < 2 else "bob"))
        return asked[-1]

    with client.connect(guarded.url, token=fresh) as mine:
        assert asked == []
        for player in ("alice", "alice", "bob"):
            assert mine["arena"].submit(player, 7).standings["all-time"].score == 7
    assert len(asked) == 3


def test_a_function_may_have_to_wait(guarded: Serving, issuer: Issuer) -> None:
    async def fresh() -> str:
        await asyncio.sleep(0)
        return issuer.token("carol")

    async def main() -> None:
        async with client.connect_async(guarded.url, token=fresh) as mine:
            board = await mine.board("arena")
            assert (await board.submit("carol", 9)).standings["all-time"].score == 9

    asyncio.run(main())


@pytest.mark.parametrize("made", ["", "a b", "\ud800", "x" * 9000, None, 7])
def test_what_is_no_token_is_not_sent(guarded: Serving, made: Any) -> None:
    with client.connect(guarded.url, token=lambda: made) as mine, pytest.raises(Invalid):
        mine["arena"].top()
    if made is not None and made != 7:
        with pytest.raises(Invalid, match="token"):
            client.connect(guarded.url, token=made)


def test_tokens_are_kept_as_safe_as_keys() -> None:
    with pytest.raises(Invalid, match="would carry the token unencrypted"):
        client.connect("http://scores.example", token=lambda: "a.b.c")
    with pytest.raises(Invalid, match="beside a key"):
        client.connect("https://scores.example", "tr_key", token="a.b.c")
    assert "a.b.c" not in repr(Address("https://scores.example", token="a.b.c"))


def test_keys_are_changed_and_rotated(guarded: Serving) -> None:
    with client.connect(guarded.url, guarded.key) as admin:
        limits: Any = {"expires_at": "2097-01-01T00:00:00Z", "addresses": ["10.0.0.0/8"]}
        made, text = admin.keys.create("game", ["read"], ["arena"], **limits)
        assert made.addresses == ("10.0.0.0/8",)
        with client.connect(guarded.url, text) as game:
            with pytest.raises(NotAllowed, match="your address"):
                game["arena"].top()
            changed = admin.keys.edit(made.id, addresses=[], verbs=["read", "write"])
            assert (changed.verbs, changed.addresses) == (("read", "write"), ())
            assert changed.expires_at == made.expires_at
            assert game["arena"].submit("dave", 1).status == "accepted"
            new, new_text = admin.keys.rotate(made.id, overlap_seconds=0)
            with pytest.raises(NotAllowed, match="has expired"):
                game["arena"].top()
        with client.connect(guarded.url, new_text) as game:
            assert game["arena"].top(1)
        assert (new.owner, new.boards, new.verbs) == (made.owner, made.boards, changed.verbs)
        assert admin.keys.edit(made.id, expires_at=None).expires_at is None
        for wrong in ({"name": None}, {"addresses": ["x"]}, {"expires_at": "now"}):
            with pytest.raises(Invalid):
                admin.keys.edit(made.id, **wrong)
        with pytest.raises(Invalid, match="in the future"):
            admin.keys.edit(made.id, expires_at="2001-01-01T00:00:00Z")
