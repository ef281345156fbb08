"""The access table is the one that the declarations of operations make."""

from __future__ import annotations

from tests.docs.access import PAGE, page


def test_the_table_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run python -m tests.docs.access"
