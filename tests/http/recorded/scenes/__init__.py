"""Every request that the reference describes, by subject."""

from typing import Final

from tests.http.recorded.asking import Scene
from tests.http.recorded.scenes.boards import BOARDS, RULES
from tests.http.recorded.scenes.scores import BATCHES, POLICIES, REFUSED, SUBMITTING

SCENES: Final[list[Scene]] = [BOARDS, RULES, SUBMITTING, REFUSED, BATCHES, POLICIES]
