"""Names of players: what is refused, what is warned of, and what waits for a moderator.

Refused is what breaks the page that shows it: characters that turn the text around them, that end
lines or are seen by nobody, and towers of marks. Warned of is what looks like something else. What
a list of words knows is for a moderator to judge (`toprung.service.naming`).

Names that were set before stay as they are: they are judged when they are set again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from toprung.domain.player import parse_name
from toprung.errors import Invalid

MARKS_MAX: Final = 6
"""Of one letter. Written languages need three at most, or four with cantillation."""

NameWarning = Literal["mixed-scripts", "look-alikes", "compatibility-forms"]

_BREAKING: Final = re.compile(
    "[\u200b\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\u206a-\u206f\u2028\u2029\ufeff\ufff9-\ufffb"
    "\u2060-\u2064\u00ad\u180e\U000e0000-\U000e007f]"
)
"""Bidirectional controls, separators of lines and paragraphs, fillers and tags. Joiners (U+200C and
U+200D) stay: Persian, Indic scripts and emoji need them."""

_FLAG: Final = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,6}\U000e007f")
"""The flag of a part of a country, such as Scotland: a black flag and tags."""

_MARKS: Final = ("Mn", "Me")
_LOOK_ALIKES: Final = {
    **dict(zip("авеѕіјклмһопрсԛтухѡԁɡ", "abesijklmhonpcqtyxwdg", strict=True)),
    **dict(zip("αβεικνορτυχγω", "abeiknoptuxyw", strict=True)),
    **dict(zip("ıⅼǀɑɩ", "illai", strict=True)),  # noqa: RUF001
    **dict(zip("01357", "oiest", strict=True)),
    **dict(zip("@$|", "asl", strict=True)),
}
"""Characters, folded, that are read as Latin letters: Cyrillic, Greek, others, digits, signs."""
_INNER_MARK: Final = re.compile(r"!(?=\w)")
"""At the end of a word it is what it is."""
_PLAIN: Final = frozenset("01357@$|")
"""Those of them that are no letters: to write them is a fashion, not a disguise."""


class NameReview(msgspec.Struct, frozen=True):
    """A name that waits for a moderator; until then the old one is shown."""

    player: str
    name: str | None
    """What is shown."""
    pending_name: str
    """What was asked for."""


def parse_player_name(value: object) -> str:
    """A name for a player, unchanged, if pages can show it.

    >>> parse_player_name("Zo\\u00eb \\U0001f3f4")
    'Zo\\xeb \\U0001f3f4'
    >>> parse_player_name("moc.\\u202eevil")
    Traceback (most recent call last):
    toprung.errors.Invalid: name: must not contain U+202E, which nobody sees and which changes how \
the text around it is shown
    """
    name = parse_name(value)
    if name.isascii():
        return name
    found = _BREAKING.search(_FLAG.sub("", name))
    if found is not None:
        raise Invalid(
            "name",
            f"must not contain U+{ord(found[0]):04X}, which nobody sees and which changes how the"
            " text around it is shown",
        )
    in_a_row = 0
    for character in unicodedata.normalize("NFD", name):
        in_a_row = in_a_row + 1 if unicodedata.category(character) in _MARKS else 0
        if in_a_row > MARKS_MAX:
            raise Invalid("name", f"must have at most {MARKS_MAX} marks on one letter")
    return name


def name_warnings(name: str) -> tuple[NameWarning, ...]:
    """What about a name may deceive people; it is told, and the name counts.

    >>> (
    ...     name_warnings("Alice"),
    ...     name_warnings("\\u0410lice"),
    ...     name_warnings("\\u0440\\u0430\\u0443\\u0440\\u0430l"),
    ... )
    ((), ('mixed-scripts',), ('mixed-scripts',))
    >>> (
    ...     name_warnings("\\u0441\\u043e\\u0441\\u0430"),
    ...     name_warnings("\\uff21nn"),
    ...     name_warnings("\\u041c\\u0438\\u0448\\u0430"),
    ... )
    (('look-alikes',), ('compatibility-forms',), ())
    """
    if name.isascii():
        return ()
    found: list[NameWarning] = []
    plain = unicodedata.normalize("NFKC", name)
    scripts = [{_script(c) for c in word if c.isalpha()} for word in re.split(r"\s+", plain)]
    if any(len(each & {"LATIN", "CYRILLIC", "GREEK"}) > 1 for each in scripts):
        found.append("mixed-scripts")
    elif any(_is_disguised(word) for word in re.split(r"\s+", plain)):
        found.append("look-alikes")
    if plain != unicodedata.normalize("NFC", name):
        found.append("compatibility-forms")
    return tuple(found)


def skeleton(name: str) -> str:
    """How a name is read by somebody in a hurry: without case, marks and disguise.

    >>> skeleton("\\u0420\\u0430y Pal"), skeleton("C0\\u00f6L"), skeleton("\\uff21nn")
    ('pay pal', 'cool', 'ann')
    """
    folded = unicodedata.normalize("NFKD", name).casefold()
    letters = (c for c in folded if unicodedata.category(c) not in (*_MARKS, "Cf"))
    read = "".join(_LOOK_ALIKES.get(c, c) for c in letters)
    return _INNER_MARK.sub("i", read)


def _script(letter: str) -> str:
    """The first word of a letter's name, which is its script for the scripts that matter here."""
    return unicodedata.name(letter, "").partition(" ")[0]


def _is_disguised(word: str) -> bool:
    """Whether a word of letters of another script can be read as a Latin one."""
    letters = [c for c in word.casefold() if c.isalpha()]
    return len(letters) > 1 and all(c in _LOOK_ALIKES and c not in _PLAIN for c in letters)


# --- words ----------------------------------------------------------------------------------------

WORDS_MAX: Final = 5_000
WORD_LENGTH_MAX: Final = 64
_WORD: Final = re.compile(r"[^\W_]+")


class WordList:
    """Words that send a name to review. It never changes: another one replaces it.

    A word matches a whole word of the name as `skeleton` reads it; with a star at an end, words
    that end or begin with it, and with both, any that contain it. There are no regular expressions:
    one that backtracks would hold up everybody.

    >>> words = WordList(["admin", "*cheat*"])
    >>> [words.has(name) for name in ("The \\u0410DMIN", "Administer", "ch3ater", "Ann")]
    [True, False, True, False]
    """

    def __init__(self, lines: Iterable[str]) -> None:
        """Lines that are empty or begin with # say nothing; Invalid where one makes no sense."""
        self._whole: set[str] = set()
        self._starts: list[str] = []
        self._ends: list[str] = []
        self._parts: list[str] = []
        kinds = {(False, True): self._starts, (True, False): self._ends, (True, True): self._parts}
        for number, line in enumerate(lines, 1):
            word = line.strip()
            if not word or word.startswith("#"):
                continue
            if number > WORDS_MAX:
                raise Invalid("words", f"a list has at most {WORDS_MAX:,} lines")
            bare = skeleton(word.strip("*"))
            if not _WORD.fullmatch(bare) or len(bare) > WORD_LENGTH_MAX:
                raise Invalid("words", f"line {number}: is not a word of letters and digits")
            where = word.startswith("*"), word.endswith("*")
            if where == (False, False):
                self._whole.add(bare)
            else:
                kinds[where].append(bare)

    def has(self, name: str) -> bool:
        """Whether a name has a word of the list."""
        return any(self._matches(word) for word in _WORD.findall(skeleton(name)))

    def _matches(self, word: str) -> bool:
        return (
            word in self._whole
            or any(word.startswith(each) for each in self._starts)
            or any(word.endswith(each) for each in self._ends)
            or any(each in word for each in self._parts)
        )


NO_WORDS: Final = WordList(())
