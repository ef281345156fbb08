"""Somebody who issues players' tokens: genuine ones, and what an attacker would make of them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from pathlib import Path
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from toprung.domain.trust.tokens import TokenRules
from toprung.http.tokens.settings import TokenSettings

SECRET: Final = "a secret of thirty-two characters"
AUDIENCE: Final = "toprung-tests"


class Issuer:
    """One with a key of each algorithm."""

    def __init__(self) -> None:
        self.rsa = rsa.generate_private_key(65537, 2048)
        self.ec = ec.generate_private_key(ec.SECP256R1())
        self.ed = ed25519.Ed25519PrivateKey.generate()
        self._keys: dict[str, Any] = {
            "HS256": SECRET, "RS256": self.rsa, "ES256": self.ec, "EdDSA": self.ed,
        }  # fmt: skip

    def token(
        self,
        player: str = "alice",
        algorithm: str = "HS256",
        kid: str | None = None,
        **claims: Any,
    ) -> str:
        """A genuine token; claims that are None are left out."""
        said = {"sub": player, "exp": int(time.time()) + 3600, "aud": AUDIENCE, **claims}
        said = {name: value for name, value in said.items() if value is not None}
        headers = None if kid is None else {"kid": kid}
        return jwt.encode(said, self._keys[algorithm], algorithm, headers)

    def pem(self, algorithm: str = "RS256") -> bytes:
        """The public key."""
        public = self._keys[algorithm].public_key()
        found: bytes = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return found

    def jwk(self, algorithm: str, kid: str | None) -> dict[str, Any]:
        """The public key as a member of a set."""
        kind = jwt.get_algorithm_by_name(algorithm)
        found = kind.to_jwk(self._keys[algorithm].public_key(), as_dict=True)
        return {**found, **({} if kid is None else {"kid": kid})}

    def settings(self, folder: Path, **rules: Any) -> TokenSettings:
        """A service that takes all kinds: a secret, a public key, and a set with two `kid`s."""
        (folder / "rsa.pem").write_bytes(self.pem())
        keys = [self.jwk("ES256", "ec-1"), self.jwk("EdDSA", "ed-1")]
        (folder / "set.json").write_text(json.dumps({"keys": keys}))
        places = (str(folder / "rsa.pem"), str(folder / "set.json"))
        return TokenSettings(places, SECRET, TokenRules(**{"audience": AUDIENCE, **rules}))

    def wrong(self) -> dict[str, str]:
        """What is no genuine token of alice, by what is wrong with it."""
        stranger = Issuer.__new__(Issuer)
        stranger._keys = {"HS256": SECRET[::-1], "ES256": ec.generate_private_key(ec.SECP256R1())}
        claims = {"sub": "alice", "exp": int(time.time()) + 3600, "aud": AUDIENCE}
        genuine = self.token().split(".")
        return {
            "expired": self.token(exp=int(time.time()) - 60),
            "not yet": self.token(nbf=int(time.time()) + 600),
            "endless": self.token(exp=None),
            "forged": stranger.token(),
            "forged kid": stranger.token(algorithm="ES256", kid="ec-1"),
            "unknown kid": stranger.token(algorithm="ES256", kid="ec-2"),
            "other audience": self.token(aud="elsewhere"),
            "no audience": self.token(aud=None),
            "alg none": unsigned(claims, "none"),
            "alg None": unsigned(claims, "None"),
            "no alg": unsigned(claims, None),
            "RS256 as HS256": signed_with(self.pem(), claims),
            "RS256 as HS256, trimmed": signed_with(self.pem().strip(), claims),
            "set as HS256": signed_with(json.dumps(self.jwk("ES256", "ec-1")).encode(), claims),
            "other claims": ".".join((genuine[0], part({**claims, "sub": "bob"}), genuine[2])),
            "no signature": f"{genuine[0]}.{genuine[1]}.",
            "nobody": self.token(player=""),
            "no player": self.token(player="a/b"),
            "board of nowhere": self.token(boards=["A B"]),
        }


def part(value: Any) -> str:
    """A part of a token."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def unsigned(claims: Any, algorithm: str | None) -> str:
    header = {"typ": "JWT"} if algorithm is None else {"typ": "JWT", "alg": algorithm}
    return f"{part(header)}.{part(claims)}."


def signed_with(secret: bytes, claims: Any) -> str:
    """A token of HS256, its secret being something that everybody knows."""
    text = f"{part({'typ': 'JWT', 'alg': 'HS256'})}.{part(claims)}"
    code = hmac.new(secret, text.encode(), hashlib.sha256).digest()
    return f"{text}.{base64.urlsafe_b64encode(code).rstrip(b'=').decode()}"
