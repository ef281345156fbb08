"""The access table, made from what operations declare.

python -m tests.docs.access writes docs/reference/access.md
"""

from __future__ import annotations

from pathlib import Path

from toprung.operations import OPERATIONS, Operation

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "access.md"

_HEAD = """# Who may do what

Every operation of a service that requires keys, made from the declarations in
`src/toprung/operations/`; empty means no.

- *Anybody* needs no key.
- A player with a [token](../how-to/who-may-write.md#players-submit) gets what anybody gets and, if
  the request names that player, what stands under *own player*: on the boards that the token is
  for, private ones included.
- A *key* must allow the verb on the boards that are named: `read`, `write`, `moderate` or `admin`.
  `admin` includes `moderate`; apart from that, no verb includes another.

Without keys, users of the machine may do everything: see [access](http.md#access).

| operation | anybody | own player | key |
|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    return _HEAD + "".join(map(_row, OPERATIONS.values()))


def _row(operation: Operation) -> str:
    access = operation.access
    who = f"{access.anybody} | {access.own_player} | {access.key}"
    return f"| `{operation.method} {operation.path}` | {who} |\n"


if __name__ == "__main__":
    PAGE.write_text(page())
