"""Keys that tokens are verified with. Each has one algorithm, which is never taken from a token.

So a public key is never a secret of HMAC, whatever a token says of itself, and there is no `none`.
Secrets appear in no text made of a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Final

import msgspec

from toprung.errors import Invalid, MissingExtra

ALGORITHMS: Final = ("HS256", "RS256", "ES256", "EdDSA")
SECRET_BYTES_MIN: Final = 32
"""As RFC 7518 asks for: as long as the hash."""
KEYS_MAX: Final = 64
"""Of one set: a token without `kid` may have to be tried with all of one algorithm."""
KID_MAX: Final = 256

_KINDS: Final = {
    ("oct", None): "HS256",
    ("RSA", None): "RS256",
    ("EC", "P-256"): "ES256",
    ("OKP", "Ed25519"): "EdDSA",
}


def require_tokens() -> None:
    """MissingExtra if this installation cannot verify tokens."""
    if not all(map(find_spec, ("jwt", "cryptography"))):
        raise MissingExtra("tokens")


class TokenKey:
    """A key with its algorithm, and by which name tokens ask for it, if they do."""

    __slots__ = ("_jws", "_key", "algorithm", "kid")

    def __init__(self, algorithm: str, key: Any, kid: str | None = None) -> None:
        from jwt import PyJWS

        assert algorithm in ALGORITHMS
        self.algorithm = algorithm
        self.kid = kid
        self._key = key
        self._jws = PyJWS([algorithm], {"enforce_minimum_key_length": True})

    def __repr__(self) -> str:
        return f"<TokenKey {self.algorithm} {self.kid!r}>"

    def payload_of(self, token: str) -> bytes | None:
        """What stands in a token that this key has signed; None if it has not."""
        from jwt import PyJWTError

        try:
            read = self._jws.decode_complete(token, self._key, [self.algorithm])
        except PyJWTError:
            return None
        payload: bytes = read["payload"]
        return payload


def secret_key(secret: bytes, field: str) -> TokenKey:
    """A secret that the issuer of tokens shares with this service."""
    from jwt import PyJWTError, get_algorithm_by_name

    if len(secret) < SECRET_BYTES_MIN:
        raise Invalid(field, f"a secret must have at least {SECRET_BYTES_MIN} bytes")
    try:
        return TokenKey("HS256", get_algorithm_by_name("HS256").prepare_key(secret))
    except PyJWTError:
        raise Invalid(field, "is a key that others may know, and no secret") from None


def public_key(text: bytes, field: str) -> TokenKey:
    """A public key or a certificate in PEM."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    from cryptography.x509 import load_pem_x509_certificate

    if b"PRIVATE KEY" in text:
        raise Invalid(field, "is a private key; give the public key only")
    try:
        key: object
        if b"BEGIN CERTIFICATE" in text:
            key = load_pem_x509_certificate(text).public_key()
        else:
            key = load_pem_public_key(text)
    except (ValueError, UnsupportedAlgorithm):
        raise Invalid(field, "is not a public key in PEM") from None
    if isinstance(key, rsa.RSAPublicKey) and key.key_size >= 2048:
        return TokenKey("RS256", key)
    if isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1):
        return TokenKey("ES256", key)
    if isinstance(key, ed25519.Ed25519PublicKey):
        return TokenKey("EdDSA", key)
    raise Invalid(field, "must be a key of RSA with 2048 bits or more, of P-256, or of Ed25519")


def key_set(text: bytes, field: str, *, allows_secrets: bool) -> tuple[TokenKey, ...]:
    """The keys of a JWKS that can verify tokens; others are left out, as RFC 7517 asks for.

    `allows_secrets`: whether it is one that nobody else reads.
    """
    try:
        document = msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise Invalid(field, "is not a JSON Web Key Set") from None
    listed = document.get("keys")
    if not isinstance(listed, list):
        raise Invalid(field, "is not a JSON Web Key Set: it has no list of keys")
    if len(listed) > KEYS_MAX:
        raise Invalid(field, f"has more than {KEYS_MAX} keys")
    found = [_usable(each, allows_secrets=allows_secrets) for each in listed]
    return tuple(key for key in found if key is not None)


def _usable(jwk: object, *, allows_secrets: bool) -> TokenKey | None:
    """A key of a set, if it is one that verifies tokens."""
    if not isinstance(jwk, dict) or "d" in jwk or jwk.get("use", "sig") != "sig":
        return None
    operations = jwk.get("key_ops", ["verify"])
    algorithm = _algorithm_of(jwk)
    if algorithm is None or not isinstance(operations, list) or "verify" not in operations:
        return None
    if algorithm == "HS256" and not allows_secrets:
        return None
    try:
        return _from_jwk(jwk, algorithm, "")
    except Invalid:
        return None


def _algorithm_of(jwk: Mapping[str, Any]) -> str | None:
    """The algorithm that a key is for; None if it is none of ours, or says two things."""
    kind, curve = jwk.get("kty"), jwk.get("crv")
    if not isinstance(kind, str) or not isinstance(curve, str | None):
        return None
    algorithm = _KINDS.get((kind, curve))
    return algorithm if jwk.get("alg", algorithm) == algorithm else None


def _from_jwk(jwk: Mapping[str, Any], algorithm: str, field: str) -> TokenKey:
    from jwt import PyJWK, PyJWTError

    kid = jwk.get("kid")
    if kid is not None and not (isinstance(kid, str) and 0 < len(kid) <= KID_MAX):
        raise Invalid(field, f"a kid must be text of at most {KID_MAX} characters")
    try:
        key = TokenKey(algorithm, PyJWK(dict(jwk), algorithm).key, kid)
    except (PyJWTError, KeyError, ValueError, TypeError):
        raise Invalid(field, "is not a key that can verify tokens") from None
    if algorithm == "HS256" and len(key._key) < SECRET_BYTES_MIN:  # noqa: SLF001 -- our own
        raise Invalid(field, f"a secret must have at least {SECRET_BYTES_MIN} bytes")
    return key


def read_keys(text: bytes, field: str) -> tuple[TokenKey, ...]:
    """The keys in a file: a JWKS, a public key in PEM, or a secret."""
    content = text.strip()
    if content.startswith(b"{"):
        found = key_set(content, field, allows_secrets=True)
        if not found:
            raise Invalid(field, "has no key that can verify tokens")
        return found
    if b"-----BEGIN" in content:
        return (public_key(content, field),)
    return (secret_key(content, field),)
