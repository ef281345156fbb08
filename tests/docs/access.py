"""The access table, made from what operations declare.

python -m tests.docs.access writes docs/reference/access.md
"""

from __future__ import annotations

from pathlib import Path

from toprung.operations import OPERATIONS, Operation

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "access.md"

_HEAD = """# Who may do what

Every operation of a service that requires keys, made from the declarations in
`src/toprung/operations/`. *Anybody* needs no key; a *key* must allow the verb on the boards that
are named; empty means no. Without keys, users of the machine may do everything: see
[access](http.md#access).

| operation | anybody | key |
|---|---|---|
"""


def page() -> str:
    """The whole page."""
    return _HEAD + "".join(map(_row, OPERATIONS.values()))


def _row(operation: Operation) -> str:
    access = operation.access
    return f"| `{operation.method} {operation.path}` | {access.anybody} | {access.key} |\n"


if __name__ == "__main__":
    PAGE.write_text(page())
