"""What a player id, an attribute and a scope value may look like."""

from __future__ import annotations

import pytest

from toprung.domain.player import parse_attributes, parse_player
from toprung.errors import Invalid


@pytest.mark.parametrize(
    "player",
    [
        "a",
        "alice",
        "Ålice",
        "e\u0301",
        "名前",
        "👩‍🚀",
        "a b",
        "...",
        "x" * 128,
        "é" * 64,
        "\u202e!",
    ],
)
def test_ids_are_opaque_text_and_stay_as_they_are(player: str) -> None:
    assert parse_player(player) == player


@pytest.mark.parametrize(
    ("player", "words"),
    [
        ("", "empty"),
        ("x" * 129, "at most 128 bytes in UTF-8, has 129"),
        ("é" * 65, "at most 128 bytes in UTF-8, has 130"),
        ("a/b", "must not contain"),
        ("a\\b", "must not contain"),
        (".", 'must not be "."'),
        ("..", 'must not be "."'),
        ("a\nb", "control"),
        ("a\x7f", "control"),
        ("\x85é", "control"),
        ("\ud800", "surrogate"),
        (b"alice", "not bytes"),
        (7, "not a number"),
        (None, "not null"),
    ],
)
def test_other_ids_are_refused(player: object, words: str) -> None:
    with pytest.raises(Invalid, match=words) as caught:
        parse_player(player)
    assert caught.value.field == "player"


@pytest.mark.parametrize(
    ("attributes", "field", "words"),
    [
        ([], "attributes", "object"),
        ({"Country": "US"}, "attributes", "attribute names"),
        ({"global": "US"}, "attributes", "reserved"),
        ({"country": ""}, "attributes/country", "empty"),
        ({"country": "x" * 65}, "attributes/country", "at most 64 bytes"),
        ({"country": 7}, "attributes/country", "not a number"),
        ({f"a{i}": "x" for i in range(17)}, "attributes", "at most 16"),
    ],
)
def test_bad_attributes_are_refused(attributes: object, field: str, words: str) -> None:
    with pytest.raises(Invalid, match=words) as caught:
        parse_attributes(attributes)
    assert caught.value.field == field
