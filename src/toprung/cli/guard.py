"""Text in CSV files that spreadsheets must not take for formulas.

A cell that begins like a formula gets an apostrophe in front, as do cells that begin with one, so
that taking it off again always gives the text back. Numbers are not text: -5 stays -5.
"""

from __future__ import annotations

from typing import Final

APOSTROPHE: Final = "'"
_SUSPICIOUS: Final = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20'")  # also in full width


def guarded(text: str) -> str:
    """The text as a cell that is text in every spreadsheet.

    >>> guarded("=1+1"), guarded("'tis"), guarded("alice")
    ("'=1+1", "''tis", 'alice')
    """
    return APOSTROPHE + text if text.startswith(_SUSPICIOUS) else text


def unguarded(cell: str) -> str:
    """The text behind a cell that `guarded` may have written.

    >>> unguarded("'=1+1"), unguarded("''tis"), unguarded("'tis")
    ('=1+1', "'tis", "'tis")
    """
    if cell.startswith(APOSTROPHE) and cell[1:].startswith(_SUSPICIOUS):
        return cell[1:]
    return cell
