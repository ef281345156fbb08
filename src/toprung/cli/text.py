"""Text from strangers, made fit for a terminal: the one place where that is decided.

Player names, board titles and everything else that somebody typed may hold escape sequences that
recolour or retitle a terminal, and directional controls that make a line read differently than it
is. They are shown as what they are: ``\\u202e``. The joiners that emoji and some scripts need are
kept; they move nothing.
"""

from __future__ import annotations

import re
from typing import Final

# Controls, format characters, surrogates and line separators (Cc, Cf, Cs, Zl, Zp), but for the
# joiners U+200C and U+200D. Spelled out because asking the Unicode database takes half a second.
_HOSTILE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u180e\u200b"
    "\u200e-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000110bd"
    "\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    r"""The text with everything that could act on a terminal spelled out.

    >>> printable("eve\x1b[2J\u202egnp.exe"), printable("İpek 👩‍🚀")
    ('eve\\u001b[2J\\u202egnp.exe', 'İpek 👩‍🚀')
    """
    return text if _is_plain(text) else _HOSTILE.sub(_spelled, text)


def printable_json(document: str) -> str:
    r"""A JSON document that means the same, with such characters as JSON escapes.

    >>> printable_json('{"name":"\x9b1m"}')
    '{"name":"\\u009b1m"}'
    """
    return document if _is_plain(document) else _HOSTILE.sub(_escaped, document)


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _spelled(found: re.Match[str]) -> str:
    point = ord(found[0])
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def _escaped(found: re.Match[str]) -> str:
    """A JSON escape: two surrogates where one unit does not reach."""
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
