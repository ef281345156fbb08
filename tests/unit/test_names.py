"""Names of players: what breaks pages, what deceives, and words."""

from __future__ import annotations

import pytest

from toprung.domain.trust.names import (
    WORDS_MAX,
    WordList,
    name_warnings,
    parse_player_name,
    skeleton,
)
from toprung.errors import Invalid


@pytest.mark.parametrize(
    "name",
    [
        "Ann",
        "  Ann B.  ",
        "O'Brien-\u00d8st",
        "\u05d0\u05d1\u05d2",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian, with a joiner
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",  # a family
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # Scotland
        "\u2764\ufe0f",
        "Zo\u00eb",
        "Nguye\u0302\u0303n",
        "\u0e17\u0e35\u0e48",
        "x" * 256,
    ],
)
def test_names_of_people_stay_as_they_are(name: str) -> None:
    assert parse_player_name(name) == name


@pytest.mark.parametrize(
    "code",
    [
        *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C, 0x200B, 0x2028,
        0x2029, 0xFEFF, 0xFFF9, 0xFFFB, 0x2060, 0x00AD, 0xE0001, 0xE0041,
    ],
)  # fmt: skip
def test_what_breaks_pages_is_refused(code: int) -> None:
    with pytest.raises(Invalid, match=f"name: must not contain U\\+{code:04X}, which nobody sees"):
        parse_player_name(f"Ann{chr(code)}B")


@pytest.mark.parametrize("name", ["", " ", "\u3164", "a\nb", "a\x00", "\ud800", "x" * 257, 7])
def test_what_was_refused_before_still_is(name: object) -> None:
    with pytest.raises(Invalid, match="name: "):
        parse_player_name(name)


def test_towers_of_marks_are_refused() -> None:
    assert parse_player_name("a" + "\u0301" * 6 + "b" + "\u0301" * 6)
    for name in ("a" + "\u0301" * 7, "\u00e1" + "\u0301" * 6):
        with pytest.raises(Invalid, match="at most 6 marks on one letter"):
            parse_player_name(name)


@pytest.mark.parametrize(
    ("name", "warnings"),
    [
        ("Alice", ()),
        ("Zo\u00eb M\u00fcller", ()),
        ("\u041c\u0438\u0448\u0430", ()),
        ("\u0391\u03bb\u03ad\u03be\u03b7\u03c2", ()),
        ("\u30df\u30b5 Misa \u6f22\u5b57", ()),
        ("Ann \u041c\u0438\u0448\u0430", ()),  # two words, each of one script
        ("\u0410lice", ("mixed-scripts",)),
        ("Al\u03bfce", ("mixed-scripts",)),
        ("\u0440\u0430\u0443\u0440\u0430", ("look-alikes",)),
        ("\u0421\u041e\u0421\u0410", ("look-alikes",)),
        ("\uff21\uff4e\uff4e", ("compatibility-forms",)),
        ("\U0001d400nn", ("compatibility-forms",)),
        ("\uff21\u0410", ("mixed-scripts", "compatibility-forms")),
    ],
)
def test_what_deceives_is_warned_of(name: str, warnings: tuple[str, ...]) -> None:
    assert name_warnings(name) == warnings


def test_skeletons_are_what_people_read() -> None:
    disguises = ["admin", "ADMIN", "\u00c1dm\u00efn", "\u0410DM1N", "\uff41\uff44min", "@dm!n"]
    assert {skeleton(each) for each in disguises} == {"admin"}
    assert skeleton("a\u200dd\u00admin") == "admin"


def test_words() -> None:
    words = WordList(["", "# our own", "admin", "mod*", "*bot", "*cheat*", " \u00dcber "])
    for name in ("Admin", "x admin!", "_adm1n_", "Moderator", "mod", "aimbot", "Ch3aters", "uber"):
        assert words.has(name), name
    for name in (
        "administrator",
        "badmin",
        "robots",
        "commode",
        "Ann",
        "\u6f22\u5b57",
        "\ud83d"[:0],
    ):
        assert not words.has(name), name


@pytest.mark.parametrize("line", ["two words", "*", "**", "a*b", "x" * 65, "\u200d", "!!"])
def test_lines_that_make_no_sense_are_refused(line: str) -> None:
    with pytest.raises(Invalid, match="words: line 2: is not a word"):
        WordList(["admin", line])


def test_a_list_has_a_bound() -> None:
    WordList(["word"] * WORDS_MAX)
    with pytest.raises(Invalid, match="at most 5,000 lines"):
        WordList(["word"] * (WORDS_MAX + 1))
