"""Clients of the released service go on working: every answer is what it was, byte for byte.

`recorded.scenes` asks for everything that the reference describes; `data/recorded` has what was
answered when it was released, on both profiles. `python -m tests.http.record` records anew.
"""

from __future__ import annotations

import pytest

from tests.http.conftest import Targets
from tests.http.recorded.asking import Scene
from tests.http.recorded.files import differences, path_of, recorded
from tests.http.recorded.playing import played
from tests.http.recorded.scenes import SCENES


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_answers_are_what_they_were(targets: Targets, scene: Scene) -> None:
    known = recorded(path_of(scene.name).read_bytes().decode(), targets.profile)
    found = differences(played(scene, targets.fresh()), known)
    assert not found, "\n\n".join([f"{len(found)} answers of {scene.name} differ", *found[:10]])
