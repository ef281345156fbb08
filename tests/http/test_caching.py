"""What caches are told: it depends on the board alone, and not on who asks."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.http.conftest import Targets
from tests.http.serving import Serving, serving
from toprung.http.settings import ServiceSettings

PUBLIC = "public, max-age=1, stale-while-revalidate=5"
PRIVATE = "private, no-cache"
BY_A_PAGE = {"origin": "https://elsewhere.example"}


@pytest.fixture(scope="module", params=[False, True], ids=["no keys", "keys"])
def running(request: pytest.FixtureRequest, targets: Targets) -> Iterator[Serving]:
    """A service with two boards: `secret`, and `open` which is public."""
    with serving(ServiceSettings(needs_keys=request.param), target=targets.fresh()) as found:
        for board, public in (("secret", False), ("open", True)):
            rules = {"public": public, "windows": ["all-time"]}
            assert found.http.put(f"/v1/boards/{board}", json=rules).status_code == 201
        yield found


@pytest.mark.parametrize("headers", [{}, BY_A_PAGE], ids=["anybody", "a page"])
@pytest.mark.parametrize("query", ["", "?limit=5", "?from=1"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_pages_of_a_public_board_may_be_kept_and_given_to_everybody(
    running: Serving, headers: dict[str, str], query: str, method: str
) -> None:
    for http in (running.http, running.anyone):
        answer = http.request(method, f"/v1/boards/open/standings{query}", headers=headers)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == PUBLIC
        assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("headers", [{}, BY_A_PAGE], ids=["anybody", "a page"])
def test_pages_of_other_boards_may_not(running: Serving, headers: dict[str, str]) -> None:
    answer = running.http.get("/v1/boards/secret/standings", headers=headers)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == PRIVATE
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("headers", [{}, BY_A_PAGE], ids=["anybody", "a page"])
def test_that_nothing_changed_is_told_with_the_same_words(
    running: Serving, headers: dict[str, str]
) -> None:
    for board, told in (("open", PUBLIC), ("secret", PRIVATE)):
        path = f"/v1/boards/{board}/standings"
        tag = running.http.get(path).headers["etag"]
        unchanged = running.http.get(path, headers={"if-none-match": tag, **headers})
        assert (unchanged.status_code, unchanged.headers["cache-control"]) == (304, told)


def test_a_board_that_is_no_longer_public_is_not_kept_from_then_on(running: Serving) -> None:
    def told() -> str:
        answer: httpx2.Response = running.http.get("/v1/boards/fickle/standings")
        return answer.headers["cache-control"]

    running.http.put("/v1/boards/fickle", json={"public": True})
    assert told() == PUBLIC
    running.http.patch("/v1/boards/fickle", json={"public": False})
    assert told() == PRIVATE
    running.http.delete("/v1/boards/fickle")
