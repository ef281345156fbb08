"""Clients of the released service go on working: every answer is what it was, byte for byte.

`recorded.scenes` asks for everything that the reference describes; `data/recorded` has what was
answered when it was released, on both profiles. `python -m tests.http.record` records anew.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest

from tests.http.conftest import Targets
from tests.http.recorded.asking import Ask, Scene
from tests.http.recorded.files import differences, path_of, recorded
from tests.http.recorded.playing import played
from tests.http.recorded.scenes import SCENES
from toprung.http.openapi import document
from toprung.http.problems import Refused
from toprung.http.routes import ROUTES
from toprung.http.routing import Router
from toprung.operations import OPERATIONS

_router = Router(ROUTES)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_answers_are_what_they_were(targets: Targets, scene: Scene) -> None:
    known = recorded(path_of(scene.name).read_bytes().decode(), targets.profile)
    found = differences(played(scene, targets.fresh()), known)
    if found:
        pytest.fail("\n\n".join([f"{len(found)} answers differ:", *found[:10]]), pytrace=False)


def test_another_byte_is_a_difference() -> None:
    scene = next(scene for scene in SCENES if scene.name == "friends")
    text = path_of(scene.name).read_bytes().decode()
    changed = text.replace('null,"attributes":{"country":"NZ"', 'null,"attributes":{"country":"NY"')
    known = recorded(changed, "embedded")
    (found,) = differences(played(scene, "memory:"), known)
    assert found.splitlines()[0] == "exchange 3: > PUT /v1/players/cat"
    assert '-  "country": "NY"' in found
    assert '+  "country": "NZ"' in found


def test_everything_in_the_reference_is_asked_for() -> None:
    asked = {part for scene in SCENES for step in scene.steps for part in _parts(step)}
    known = {
        part
        for path, methods in document(OPERATIONS.values(), needs_keys=True)["paths"].items()
        for method, operation in methods.items()
        for part in [
            (method.upper(), path, None),
            *(
                (method.upper(), path, parameter["name"].lower())
                for parameter in operation.get("parameters", ())
                if parameter["in"] != "path"
            ),
        ]
    }
    assert sorted(known - asked, key=str) == []


def _parts(step: object) -> set[tuple[str, str, str | None]]:
    """The route that a request asks, and which of its parameters and headers."""
    if not isinstance(step, Ask):
        return set()
    path, _, query = step.address.partition("?")
    try:
        found = _router.find(step.method, path.encode())
    except Refused:
        found = None
    if found is None:
        return set()
    names = [None, *step.headers, *(name for name, _ in parse_qsl(query, keep_blank_values=True))]
    return {(step.method, found[0].path, name) for name in names}
