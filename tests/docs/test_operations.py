"""The reference of operations is the one that their declarations make."""

from __future__ import annotations

from tests.docs.reference import PAGE, page


def test_the_reference_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run python -m tests.docs.reference"
