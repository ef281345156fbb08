"""What the claims of a genuine token must say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.domain.instant import SECOND
from toprung.domain.trust.tokens import BadClaims, PlayerToken, TokenRules, token_of
from toprung.domain.trust.writing import TRUSTS, refusal_of_player

GOOD: dict[str, Any] = {"sub": "alice", "exp": 1000}


@pytest.mark.parametrize(
    ("claims", "rules", "said"),
    [
        ({"exp": None}, {}, "exp is missing"),
        ({"exp": "1000"}, {}, "exp is not a time"),
        ({"exp": True}, {}, "exp is not a time"),
        ({"exp": -1}, {}, "exp is not a time"),
        ({"exp": 10**30}, {}, "exp is not a time"),
        ({"exp": 10**400}, {}, "exp is not a time"),
        ({"exp": float("nan")}, {}, "exp is not a time"),
        ({"exp": float("inf")}, {}, "exp is not a time"),
        ({"nbf": []}, {}, "nbf is not a time"),
        ({"iat": "now"}, {}, "iat is not a time"),
        ({"sub": None}, {}, "sub is not a player's id"),
        ({"sub": 7}, {}, "sub is not a player's id"),
        ({"sub": ""}, {}, "sub is not a player's id"),
        ({"sub": "a/b"}, {}, "sub is not a player's id"),
        ({"sub": "a\x1db"}, {}, "sub is not a player's id"),
        ({"sub": "\ud800"}, {}, "sub is not a player's id"),
        ({"sub": "x" * 129}, {}, "sub is not a player's id"),
        ({"boards": "eu-*"}, {}, "boards"),
        ({"boards": []}, {}, "boards"),
        ({"boards": ["EU"]}, {}, "boards/0"),
        ({"boards": ["x"] * 65}, {}, "boards"),
        ({"aud": "game"}, {}, "aud names a service"),
        ({}, {"audience": "game"}, "aud does not name"),
        ({"aud": "Game"}, {"audience": "game"}, "aud does not name"),
        ({"aud": ["shop", 7]}, {"audience": "game"}, "aud does not name"),
        ({"aud": ["game"] * 65}, {"audience": "game"}, "aud does not name"),
        ({"aud": {"game": 1}}, {"audience": "game"}, "aud does not name"),
        ({}, {"issuer": "us"}, "iss is not"),
        ({"iss": ["us"]}, {"issuer": "us"}, "iss is not"),
        ({}, {"lifetime_seconds": 100}, "iat is missing"),
        ({"iat": 899}, {"lifetime_seconds": 100}, "more than 100 seconds"),
    ],
)
def test_what_is_wrong_is_said(claims: Any, rules: Any, said: str) -> None:
    with pytest.raises(BadClaims, match=said):
        token_of(GOOD | claims, TokenRules(**rules))


@pytest.mark.parametrize(
    ("claims", "rules"),
    [
        ({"aud": "game"}, {"audience": "game"}),
        ({"aud": ["shop", "game"]}, {"audience": "game"}),
        ({"iss": "us"}, {"issuer": "us"}),
        ({"iss": "anybody", "more": {"than": "that"}}, {}),
        ({"iat": 900}, {"lifetime_seconds": 100}),
        ({"aud": None, "iss": None, "nbf": None, "iat": None, "boards": None}, {}),
    ],
)
def test_what_is_right_passes(claims: Any, rules: Any) -> None:
    token = token_of(GOOD | claims, TokenRules(**rules))
    assert (token.player, token.boards) == ("alice", ("*",))


def test_times_have_leeway() -> None:
    token = token_of(GOOD | {"nbf": 500.5, "iat": 400}, TokenRules(leeway_seconds=10))
    times = (490.4, 490.5, 1009.9, 1010)
    faults = [token.fault(int(each * SECOND)) for each in times]
    assert faults == ["is not valid yet", None, None, "has expired"]
    late = token_of(GOOD | {"nbf": 400, "iat": 500}, TokenRules(leeway_seconds=0))
    assert late.begins_at == 500 * SECOND  # issued in the future: not valid yet either


@given(
    claims=st.dictionaries(
        st.sampled_from(["sub", "exp", "nbf", "iat", "aud", "iss", "boards"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
            max_leaves=5,
        ),
    ),
    base=st.booleans(),
    audience=st.none() | st.just("game"),
)
def test_whatever_it_says_it_is_read_or_refused(
    claims: dict[str, Any], base: bool, audience: str | None
) -> None:
    rules = TokenRules(audience=audience, lifetime_seconds=None if base else 50)
    try:
        token = token_of((GOOD if base else {}) | claims, rules)
    except BadClaims:
        return
    assert isinstance(token, PlayerToken)
    assert token.begins_at >= 0
    assert token.player.encode()


def test_trust_decides_who_submits() -> None:
    token = PlayerToken("alice", ("eu-*",), 0, 1)
    passed = [
        (trust, board, player)
        for trust in TRUSTS
        for board in ("eu-blitz", "us-blitz")
        for player in ("alice", "bob", None, 7, ["alice"])
        if refusal_of_player(token, board, trust, player) is None
    ]
    assert passed == [(trust, "eu-blitz", "alice") for trust in ("player", "signed")]
