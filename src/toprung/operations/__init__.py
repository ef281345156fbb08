"""Every operation of a service, declared once, by name.

Routes, the OpenAPI document, the client and the reference are made from these declarations.
"""

from typing import Final

from toprung.operations import (
    audit,
    boards,
    players,
    reference,
    review,
    scores,
    standings,
    system,
    webhooks,
)
from toprung.operations.operation import Operation

_SUBJECTS: Final = (
    boards.operations,
    scores.operations,
    standings.operations,
    players.operations,
    review.operations,
    system.operations,
    webhooks.operations,
    audit.operations,
    reference.operations,
)
OPERATIONS: Final[dict[str, Operation]] = {
    operation.name: operation for subject in _SUBJECTS for operation in subject.all
}

assert len(OPERATIONS) == sum(len(subject.all) for subject in _SUBJECTS), "names are unique"

__all__ = ["OPERATIONS", "Operation"]
