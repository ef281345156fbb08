"""Signatures of scores: published vectors, written down as they were published."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import runpy
import struct
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.domain.instant import parse_instant
from toprung.domain.score import parse_score
from toprung.domain.trust.canonical_json import canonical_json, number_text
from toprung.domain.trust.hkdf import LENGTH_MAX, expand, extract, hkdf
from toprung.domain.trust.runs import Run
from toprung.domain.trust.signing import SignedScore, is_signature, score_message, score_signature
from toprung.errors import Invalid

ROOT = Path(__file__).parents[2]
VECTORS: list[dict[str, Any]] = json.loads(
    (ROOT / "docs/reference/signature-vectors.json").read_text()
)
signer = runpy.run_path(str(ROOT / "examples/sign_score.py"))

# --- RFC 4231: HMAC-SHA-256 -----------------------------------------------------------------------

LONG = (
    b"This is a test using a larger than block-size key and a larger than block-size data. "
    b"The key needs to be hashed before being used by the HMAC algorithm."
)
HMACS = [
    (
        b"\x0b" * 20,
        b"Hi There",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
    ),
    (
        b"Jefe",
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ),
    (
        b"\xaa" * 20,
        b"\xdd" * 50,
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
    ),
    (
        bytes(range(1, 26)),
        b"\xcd" * 50,
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
    ),
    (
        b"\xaa" * 131,
        b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
    (
        b"\xaa" * 131,
        LONG,
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
    ),
]


@pytest.mark.parametrize(("key", "message", "expected"), HMACS)
def test_signatures_are_hmacs(key: bytes, message: bytes, expected: str) -> None:
    assert score_signature(key, message) == expected
    assert is_signature(expected, key, message)
    assert not is_signature(expected[:-1] + "0", key, message)
    assert not is_signature(expected, key, message + b" ")
    assert hmac.new(key, message, hashlib.sha256).hexdigest() == expected


# --- RFC 5869: HKDF with SHA-256 ------------------------------------------------------------------

LONG_KEY = (
    "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
    "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71"
    "cc30c58179ec3e87c14c01d5c1f3434f1d87"
)
HKDFS = [
    (
        "0b" * 22,
        "000102030405060708090a0b0c",
        "f0f1f2f3f4f5f6f7f8f9",
        "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
    ),
    (
        bytes(range(0x50)).hex(),
        bytes(range(0x60, 0xB0)).hex(),
        bytes(range(0xB0, 0x100)).hex(),
        "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
        LONG_KEY,
    ),
    (
        "0b" * 22,
        "",
        "",
        "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
    ),
]


@pytest.mark.parametrize(("secret", "salt", "info", "uniform", "expected"), HKDFS)
def test_keys_are_derived_by_hkdf(
    secret: str, salt: str, info: str, uniform: str, expected: str
) -> None:
    given_secret, given_salt, given_info = map(bytes.fromhex, (secret, salt, info))
    length = len(expected) // 2
    assert extract(given_salt, given_secret).hex() == uniform
    assert expand(bytes.fromhex(uniform), given_info, length).hex() == expected
    assert hkdf(given_secret, given_info, length, given_salt).hex() == expected


def test_a_derived_key_has_its_bounds() -> None:
    assert len(hkdf(b"x", b"", LENGTH_MAX)) == 8160
    for length in (0, LENGTH_MAX + 1):
        with pytest.raises(ValueError, match="1 to 8160 bytes"):
            hkdf(b"x", b"", length)


# --- RFC 8785: canonical JSON ---------------------------------------------------------------------

SAMPLE = r"""{
  "numbers": [333333333.33333329, 1E30, 4.50,
              2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}"""
SAMPLE_BYTES = """
7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72 75 65 2c 66 61 6c 73 65 5d 2c 22 6e
75 6d 62 65 72 73 22 3a 5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31 65 2b 33 30
2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37 5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24
5c 75 30 30 30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d
"""
SORTED = {
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\U0001f600": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis",
}
SORTED_VALUES = [
    "Carriage Return",
    "One",
    "Control",
    "Latin Small Letter O With Diaeresis",
    "Euro Sign",
    "Emoji: Grinning Face",
    "Hebrew Letter Dalet With Dagesh",
]
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}
CANONICALS = [lambda value: canonical_json(value).decode(), signer["canonical"]]


@pytest.mark.parametrize("canonical", CANONICALS, ids=["service", "example"])
class TestCanonicalJson:
    def test_the_sample(self, canonical: Any) -> None:
        for value in (json.loads(SAMPLE), msgspec.json.decode(SAMPLE)):
            assert canonical(value).encode() == bytes.fromhex(SAMPLE_BYTES)

    def test_names_are_sorted_by_utf_16(self, canonical: Any) -> None:
        assert list(json.loads(canonical(SORTED)).values()) == SORTED_VALUES

    @pytest.mark.parametrize(("bits", "text"), NUMBERS.items())
    def test_numbers(self, canonical: Any, bits: str, text: str) -> None:
        (double,) = struct.unpack(">d", bytes.fromhex(bits))
        assert canonical(double) == text

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 2**53 + 1, -(2**63) + 1])
    def test_what_is_no_double_is_refused(self, canonical: Any, value: float) -> None:
        with pytest.raises(ValueError, match=r"JSON|double"):
            canonical([value])

    def test_nothing_is_escaped_that_need_not_be(self, canonical: Any) -> None:
        assert canonical('\x00\x1f\x7f\u2028/<é"\\') == '"\\u0000\\u001f\x7f\u2028/<é\\"\\\\"'
        assert canonical("\b\f\n\r\t") == r'"\b\f\n\r\t"'


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back(double: float) -> None:
    assert float(number_text(double)) == double
    assert signer["canonical_number"](double) == number_text(double)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text() | st.floats(-1e300, 1e300),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_VALUES)
def test_whoever_writes_it_the_text_is_the_same(value: Any) -> None:
    text = canonical_json(value)
    assert json.loads(text, parse_int=float) == value
    assert canonical_json(json.loads(text)) == text
    assert canonical_json(json.loads(json.dumps(value))) == text
    assert signer["canonical"](value).encode() == text


@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}, {1: 2}, {1, 2}, b"x", 10**400])
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"\w") as refused:
        canonical_json(value)
    assert not isinstance(refused.value, UnicodeError)


def test_bottomless_json_is_refused() -> None:
    bottomless: list[object] = []
    bottomless.append(bottomless)
    with pytest.raises(ValueError, match="too deeply"):
        canonical_json(bottomless)


# --- messages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", VECTORS, ids=lambda each: each["what"].replace(" ", "-"))
def test_published_vectors(vector: dict[str, Any]) -> None:
    score, board, decimals = vector["score"], vector["board"], vector["decimals"]
    run = {"run": vector["run"], "key": vector["key"]}
    subscore, at = score.get("subscore"), score.get("at")
    signed = SignedScore(
        board=board,
        player=score["player"],
        score=parse_score(score["score"], decimals),
        subscore=None if subscore is None else parse_score(subscore, 0),
        at=None if at is None else parse_instant(at),
        details=score.get("details", msgspec.UNSET),
        run=vector["run"],
    )
    assert score_message(signed).decode() == vector["message"]
    assert (
        score_signature(bytes.fromhex(vector["key"]), score_message(signed))
        == (vector["signature"])
    )
    assert (
        signer["score_message"](vector["run"], board, score, decimals).decode()
        == (vector["message"])
    )
    assert signer["sign_score"](run, board, score, decimals) == vector["signature"]
    if "details" not in score or score["details"] is not None:
        options = {name: value for name, value in score.items() if name not in ("player", "score")}
        made = Run(vector["run"], vector["key"], "").sign(
            board, score["player"], score["score"], decimals=decimals, **options
        )
        assert made == vector["signature"]


def test_every_field_is_signed() -> None:
    base: dict[str, Any] = {"board": "b", "player": "p", "score": 1, "run": "r"}
    others: list[dict[str, Any]] = [
        {},
        {"board": "c"},
        {"player": "q"},
        {"score": 2},
        {"subscore": 0},
        {"at": 0},
        {"details": None},
        {"details": {}},
        {"run": "s"},
        {"board": "b1", "player": ""},
    ]
    assert len({score_message(SignedScore(**base | other)) for other in others}) == len(others)


def test_details_that_programs_read_differently_are_not_signed() -> None:
    with pytest.raises(Invalid, match="details: cannot be signed: 9007199254740993 is not a"):
        Run("r", "00", "").sign("b", "p", 1, details=[2**53 + 1])
