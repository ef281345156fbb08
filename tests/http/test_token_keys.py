"""Where the keys of tokens come from: secrets, files, and a URL that is slow, down or rotated."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from tests.http.conftest import problem_of
from tests.http.issuer import AUDIENCE, SECRET, Issuer
from tests.http.key_server import KeyServer, key_server
from tests.http.serving import serving
from toprung.domain.trust.tokens import TokenRules
from toprung.errors import Invalid
from toprung.http.settings import ServiceSettings
from toprung.http.tokens.keys import key_set, public_key, read_keys, secret_key
from toprung.http.tokens.settings import TokenSettings, parse_token_settings
from toprung.http.tokens.sources import (
    AGAIN_SECONDS,
    FRESH_SECONDS,
    STALE_SECONDS,
    FileKeys,
    UrlKeys,
)
from toprung.http.tokens.verifying import KeysMissing, TokenRefused, Tokens
from toprung.testing.clock import FrozenClock

RULES: Final = TokenRules(audience=AUDIENCE)


@pytest.fixture
def server() -> Iterator[KeyServer]:
    with key_server() as running:
        yield running


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(int(time.time() * 1e6))


def tokens_of(server: KeyServer, clock: FrozenClock) -> Tokens:
    return Tokens(TokenSettings((server.url,), None, RULES), clock)


async def refusal(tokens: Tokens, text: str) -> str:
    with pytest.raises(TokenRefused) as refused:
        await tokens.verify(text)
    return str(refused.value)


# --- published examples ---------------------------------------------------------------------------

_JOE: Final = (
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
)
JOE: Final = b'{"iss":"joe",\r\n "exp":1300819380,\r\n "http://example.com/is_root":true}'
RFC_7515: Final[dict[str, tuple[dict[str, str], str, bytes]]] = {
    "A.1 HS256": (
        {
            "kty": "oct",
            "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1"
            "Z9CAow",
        },
        (
            f"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.{_JOE}"
            ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        ),
        JOE,
    ),
    "A.2 RS256": (
        {
            "kty": "RSA",
            "n": "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJ"
            "PMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL"
            "-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3"
            "qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb"
            "54h4FRWyuXpoQ",
            "e": "AQAB",
        },
        (
            f"eyJhbGciOiJSUzI1NiJ9.{_JOE}"
            ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O"
            "8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPv"
            "kSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phC"
            "nvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
        ),
        JOE,
    ),
    "A.3 ES256": (
        {
            "kty": "EC",
            "crv": "P-256",
            "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        },
        (
            f"eyJhbGciOiJFUzI1NiJ9.{_JOE}"
            ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        ),
        JOE,
    ),
    "RFC 8037 A.4 EdDSA": (
        {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
        (
            "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
            ".hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        ),
        b"Example of Ed25519 signing",
    ),
}


@pytest.mark.parametrize("name", RFC_7515)
def test_published_examples(name: str) -> None:
    jwk, text, payload = RFC_7515[name]
    (key,) = key_set(json.dumps({"keys": [jwk]}).encode(), "", allows_secrets=True)
    assert key.payload_of(text) == payload
    head, body, signature = text.split(".")
    wrong = ("A" if signature[0] != "A" else "B") + signature[1:]
    for other in (f"{head}.{body}.{wrong}", f"{head}.{body}A.{signature}", f"{head}.{body}."):
        assert key.payload_of(other) is None
    for each in RFC_7515:
        if each != name:
            assert key.payload_of(RFC_7515[each][1]) is None


def test_the_unsecured_example_is_refused_by_every_key() -> None:
    text = f"eyJhbGciOiJub25lIn0.{_JOE}."  # RFC 7515 A.5
    keys = json.dumps({"keys": [jwk for jwk, _, _ in RFC_7515.values()]}).encode()
    found = key_set(keys, "", allows_secrets=True)
    assert [key.algorithm for key in found] == ["HS256", "RS256", "ES256", "EdDSA"]
    assert [key.payload_of(text) for key in found] == [None] * 4


# --- keys -----------------------------------------------------------------------------------------


def test_what_a_file_may_hold(issuer: Issuer) -> None:
    for algorithm in ("RS256", "ES256", "EdDSA"):
        (key,) = read_keys(b"\n" + issuer.pem(algorithm), "keys")
        assert key.algorithm == algorithm
    (key,) = read_keys(f"{SECRET}\n".encode(), "keys")
    assert (key.algorithm, SECRET in repr(key)) == ("HS256", False)
    assert key.payload_of(issuer.token()) is not None


def test_what_a_file_may_not_hold(issuer: Issuer) -> None:
    private = issuer.rsa.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    weak = rsa.generate_private_key(65537, 1024).public_key()
    other = ec.generate_private_key(ec.SECP384R1()).public_key()
    pem, kind = Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
    for text, said in (
        (private, "private key"),
        (weak.public_bytes(pem, kind), "2048 bits"),
        (other.public_bytes(pem, kind), "P-256"),
        (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "not a public key"),
        (b"short", "at least 32 bytes"),
        (b"", "at least 32 bytes"),
        (b"{", "not a JSON Web Key Set"),
        (b'{"keys": {}}', "no list of keys"),
        (b'{"keys": []}', "no key that can verify"),
        (json.dumps({"keys": [{}] * 65}).encode(), "more than 64 keys"),
        (b'{"keys": ' + b"[" * 100_000, "not a JSON Web Key Set"),
    ):
        with pytest.raises(Invalid, match=said) as refused:
            read_keys(text, "token-keys")
        assert refused.value.field == "token-keys"
        assert b"PRIVATE" not in str(refused.value).encode()


def test_keys_of_a_set_that_are_of_no_use_are_left_out(issuer: Issuer) -> None:
    good = issuer.jwk("ES256", "good")
    secret = {"kty": "oct", "k": base64.urlsafe_b64encode(SECRET.encode()).decode()}
    short = {"kty": "oct", "k": "c2hvcnQ"}
    others: list[Any] = [
        {**good, "use": "enc"},
        {**good, "key_ops": ["sign"]},
        {**good, "key_ops": "verify"},
        {**good, "alg": "RS256"},
        {**good, "alg": "none"},
        {**good, "alg": 7},
        {**good, "crv": "P-384"},
        {**good, "crv": ["P-256"]},
        {**good, "kid": 7},
        {**good, "kid": "x" * 300},
        {**good, "x": "AAAA"},
        {**good, "d": "AAAA"},
        {**good, "kty": "RSA"},
        {"kty": "oct"},
        short,
        {},
        None,
        7,
        "key",
    ]
    listed = [*others, {**good, "use": "sig", "key_ops": ["verify"], "alg": "ES256"}]
    for allows_secrets in (False, True):
        text = json.dumps({"keys": [*listed, secret]}).encode()
        found = key_set(text, "", allows_secrets=allows_secrets)
        expected = ["ES256", "HS256"] if allows_secrets else ["ES256"]
        assert [key.algorithm for key in found] == expected
        assert found[0].kid == "good"


def test_a_public_key_is_no_secret(issuer: Issuer) -> None:
    for algorithm in ("RS256", "ES256", "EdDSA"):
        with pytest.raises(Invalid):
            secret_key(issuer.pem(algorithm), "TOPRUNG_TOKEN_SECRET")
        assert public_key(issuer.pem(algorithm), "").algorithm == algorithm


# --- files ----------------------------------------------------------------------------------------


def test_a_file_is_read_again_when_it_changes(
    issuer: Issuer, clock: FrozenClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "set.json"

    def write(content: bytes) -> None:
        beside = tmp_path / "new.json"
        beside.write_bytes(content)
        os.replace(beside, path)  # noqa: PTH105 -- as people do it who change such files

    def write_keys(*keys: Any) -> None:
        write(json.dumps({"keys": keys}).encode())

    write_keys(issuer.jwk("ES256", "one"))

    async def main() -> None:
        tokens = Tokens(TokenSettings((str(path),), None, RULES), clock)
        one, two = issuer.token("a", "ES256", "one"), issuer.token("a", "EdDSA", "two")
        assert (await tokens.verify(one)).player == "a"
        assert "not signed" in await refusal(tokens, two)
        write_keys(issuer.jwk("ES256", "one"), issuer.jwk("EdDSA", "two"))
        assert "not signed" in await refusal(tokens, two)  # it was just looked at
        clock.advance(seconds=1)
        assert (await tokens.verify(two)).player == "a"  # an unknown kid looks at once
        write_keys(issuer.jwk("EdDSA", "two"))
        assert (await tokens.verify(one)).player == "a"
        clock.advance(seconds=AGAIN_SECONDS)
        await tokens.tend()
        assert "not signed" in await refusal(tokens, one)  # although it was remembered
        for content in (b"{", f"{SECRET[:20]}".encode()):
            write(content)
            clock.advance(seconds=AGAIN_SECONDS)
            await tokens.tend()
            assert (await tokens.verify(two)).player == "a"
        path.unlink()
        clock.advance(seconds=AGAIN_SECONDS)
        await tokens.tend()
        assert (await tokens.verify(two)).player == "a"

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert caplog.text.count("token keys stay as they were") == 3
    assert SECRET[:20] not in caplog.text


def test_a_service_begins_with_what_it_was_given(clock: FrozenClock, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot read"):
        FileKeys(str(tmp_path / "nothing"), clock)
    (tmp_path / "long").write_bytes(b"x" * 300_000)
    with pytest.raises(Invalid, match="more than 262,144 bytes"):
        FileKeys(str(tmp_path / "long"), clock)
    (tmp_path / "short").write_bytes(b"secret-and-short")
    with pytest.raises(Invalid, match="at least 32 bytes") as refused:
        FileKeys(str(tmp_path / "short"), clock)
    assert "secret-and-short" not in str(refused.value)


# --- a URL ----------------------------------------------------------------------------------------


def test_rotated_keys_are_found_and_old_ones_dropped(
    issuer: Issuer, server: KeyServer, clock: FrozenClock
) -> None:
    one, two = issuer.token("a", "ES256", "one"), issuer.token("a", "EdDSA", "two")

    async def main() -> None:
        tokens = tokens_of(server, clock)
        server.show(issuer.jwk("ES256", "one"))
        await tokens.tend()
        assert (await tokens.verify(one)).player == "a"
        assert server.asked == 1
        server.show(issuer.jwk("ES256", "one"), issuer.jwk("EdDSA", "two"))
        clock.advance(seconds=AGAIN_SECONDS)
        assert (await tokens.verify(two)).player == "a"  # the first who comes with it
        assert server.asked == 2
        server.show(issuer.jwk("EdDSA", "two"))
        assert (await tokens.verify(one)).player == "a"  # nobody knows yet
        clock.advance(seconds=FRESH_SECONDS)
        await tokens.tend()
        assert "not signed" in await refusal(tokens, one)
        assert (await tokens.verify(two)).player == "a"
        server.show()
        clock.advance(seconds=FRESH_SECONDS)
        await tokens.tend()
        assert "not signed" in await refusal(tokens, two)  # an empty set is one, too

    asyncio.run(main())


def test_unknown_keys_ask_once_and_not_again_for_a_while(
    issuer: Issuer, server: KeyServer, clock: FrozenClock
) -> None:
    async def main() -> None:
        tokens = tokens_of(server, clock)
        server.show(issuer.jwk("ES256", "one"))
        await tokens.tend()
        clock.advance(seconds=AGAIN_SECONDS)
        texts = [issuer.token("a", "EdDSA", f"unknown-{number}") for number in range(50)]
        refused = await asyncio.gather(*(refusal(tokens, text) for text in texts))
        assert len(set(refused)) == 1
        assert server.asked == 2
        clock.advance(seconds=AGAIN_SECONDS - 1)
        await refusal(tokens, texts[0])
        assert server.asked == 2
        clock.advance(seconds=1)
        await refusal(tokens, texts[0])
        assert server.asked == 3
        for text in (issuer.wrong()["forged"], issuer.wrong()["alg none"]):  # they name no key
            clock.advance(seconds=AGAIN_SECONDS)
            await refusal(tokens, text)
        assert server.asked == 3

    asyncio.run(main())


def test_while_a_url_is_slow_known_keys_are_used(
    issuer: Issuer, server: KeyServer, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toprung.http.tokens.fetching.SECONDS_MAX", 0.3)
    known, unknown = issuer.token("a", "ES256", "one"), issuer.token("a", "EdDSA", "two")

    async def main() -> None:
        tokens = tokens_of(server, clock)
        server.show(issuer.jwk("ES256", "one"))
        await tokens.tend()
        server.may_answer.clear()
        server.was_asked.clear()
        clock.advance(seconds=AGAIN_SECONDS)
        waiting = asyncio.create_task(refusal(tokens, unknown))
        assert await asyncio.to_thread(server.was_asked.wait, 20)
        assert (await tokens.verify(known)).player == "a"  # without waiting
        assert not waiting.done()
        assert "not signed" in await waiting

    asyncio.run(main())


def test_a_url_that_is_away_is_missed_after_a_while(
    issuer: Issuer, server: KeyServer, clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    known = issuer.token("a", "ES256", "one", exp=int(time.time()) + 10**6)

    async def main() -> None:
        tokens = tokens_of(server, clock)
        server.show(issuer.jwk("ES256", "one"))
        await tokens.tend()
        server.status = 500
        asked = server.asked
        for _ in range(STALE_SECONDS // AGAIN_SECONDS):
            clock.advance(seconds=AGAIN_SECONDS)
            await tokens.tend()
            assert (await tokens.verify(known)).player == "a"
        assert server.asked - asked > 300  # more often than while it answers
        clock.advance(seconds=AGAIN_SECONDS)
        await tokens.tend()
        with pytest.raises(KeysMissing):
            await tokens.verify(known)
        server.status = 200
        clock.advance(seconds=AGAIN_SECONDS)
        assert (await tokens.verify(known)).player == "a"

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert caplog.text.count("token keys cannot be read") == 1
    assert caplog.text.count("token keys are dropped") == 1


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (500, b"", "status 500"),
        (302, b"", "status 302"),
        (200, b"<html>", "not a JSON Web Key Set"),
        (200, b"[]", "not a JSON Web Key Set"),
        (200, b'{"keys": 7}', "no list of keys"),
        (200, b'{"keys": [', "not a JSON Web Key Set"),
        (200, b" " * 300_000, "more than 262,144 bytes"),
        (200, b"\xff\xfe", "not a JSON Web Key Set"),
    ],
)
def test_what_is_no_set_changes_nothing(
    issuer: Issuer,
    server: KeyServer,
    clock: FrozenClock,
    caplog: pytest.LogCaptureFixture,
    status: int,
    body: bytes,
    said: str,
) -> None:
    async def main() -> None:
        keys = UrlKeys(server.url, clock)
        server.show(issuer.jwk("ES256", "one"))
        await keys.refresh(now=True)
        before = keys.keys
        server.status, server.body = status, body
        server.headers["location"] = "http://127.0.0.1:1/"
        clock.advance(seconds=AGAIN_SECONDS)
        await keys.refresh(now=True)
        assert server.asked == 2
        assert keys.keys is before

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert said in caplog.text


def test_a_secret_that_everybody_can_read_verifies_nothing(
    issuer: Issuer, server: KeyServer, clock: FrozenClock
) -> None:
    async def main() -> None:
        tokens = tokens_of(server, clock)
        key = base64.urlsafe_b64encode(SECRET.encode()).decode()
        server.show({"kty": "oct", "k": key, "alg": "HS256"})
        await tokens.tend()
        assert "not signed" in await refusal(tokens, issuer.token("a"))

    asyncio.run(main())


def test_a_service_whose_url_is_away_starts_and_says_so(issuer: Issuer) -> None:
    with key_server() as server:
        url = server.url
    tokens = TokenSettings((url,), None, RULES)
    with serving(ServiceSettings(needs_keys=True, tokens=tokens)) as running:
        running.http.put("/v1/boards/open", json={"public": True})
        headers = {"authorization": f"Bearer {issuer.token('alice', 'ES256', 'one')}"}
        answer = running.anyone.get("/v1/boards/open/standings", headers=headers)
        problem = problem_of(answer, 503, "unavailable")
        assert answer.headers["retry-after"] == "5"
        assert url not in str(problem)
        assert running.http.get("/v1/boards/open/standings").status_code == 200


# --- what is remembered ---------------------------------------------------------------------------


def test_a_remembered_token_ends_when_it_should(clock: FrozenClock, issuer: Issuer) -> None:
    async def main() -> None:
        tokens = Tokens(TokenSettings((), SECRET, RULES), clock)
        text = issuer.token("a", exp=clock.now() // 10**6 + 100)
        for _ in range(3):
            assert (await tokens.verify(text)).player == "a"
        clock.advance(seconds=100)
        assert (await tokens.verify(text)).player == "a"  # within the leeway
        clock.advance(seconds=RULES.leeway_seconds)
        assert await refusal(tokens, text) == "has expired"

    asyncio.run(main())


def test_not_all_tokens_are_remembered(
    clock: FrozenClock, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toprung.http.tokens.verifying.REMEMBERED_MAX", 3)

    async def main() -> None:
        tokens = Tokens(TokenSettings((), SECRET, RULES), clock)
        for number in range(10):
            assert (await tokens.verify(issuer.token(f"p{number}"))).player == f"p{number}"
        assert len(tokens._remembered) == 3
        for wrong in issuer.wrong().values():
            await refusal(tokens, wrong)
        assert len(tokens._remembered) <= 3

    asyncio.run(main())


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"audience": "x"}, "token-keys"),
        ({"places": ["http://id.example/keys"]}, "token-keys"),
        ({"places": ["https://user:word@id.example/keys"]}, "token-keys"),
        ({"places": ["https://"]}, "token-keys"),
        ({"places": ["https://id.example:0/"]}, "token-keys"),
        ({"places": ["https://id.example:99999/"]}, "token-keys"),
        ({"places": ["https://id.example/a\r\nb"]}, "token-keys"),
        ({"places": ["keys"] * 9}, "token-keys"),
        ({"places": ["keys"], "audience": ""}, "token-audience"),
        ({"places": ["keys"], "issuer": "x" * 2000}, "token-issuer"),
        ({"places": ["keys"], "lifetime_seconds": 0}, "token-lifetime"),
        ({"places": ["keys"], "leeway_seconds": 301}, "token-leeway"),
    ],
)
def test_wrong_settings_are_refused(given: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_token_settings(**given)
    assert refused.value.field == field


def test_a_secret_is_in_no_text() -> None:
    found = parse_token_settings(["https://id.example/keys", "http://[::1]:80/keys"], SECRET)
    assert found is not None
    assert SECRET not in repr(found)
    assert SECRET not in repr(ServiceSettings(tokens=found))
