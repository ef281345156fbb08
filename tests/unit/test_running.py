"""An operation that nothing serves, or whose body nobody reads, is refused when routes are made."""

from __future__ import annotations

import pytest

from toprung.http.running import handler_of
from toprung.operations import OPERATIONS, Operation
from toprung.operations.requests import KeyBody


def test_an_operation_runs_a_method_or_has_a_handler() -> None:
    with pytest.raises(AssertionError, match="submit_batch runs a method"):
        handler_of(OPERATIONS["submit_batch"])


def test_a_body_needs_a_handler() -> None:
    odd = Operation(
        name="odd",
        subject="boards",
        method="POST",
        path="/v1/odd",
        verb="admin",
        summary="Odd.",
        runs="boards.status",
        body=KeyBody,
    )
    with pytest.raises(AssertionError, match="odd needs a handler for its body"):
        handler_of(odd)
