"""Every route, every kind of caller, own and other players, public and private boards: exact
statuses, and no effect where a caller is refused. The table here is written by hand and not derived
from the declarations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import httpx2
import pytest

from tests.http.conftest import Targets
from tests.http.issuer import Issuer
from tests.http.paths import NAMES
from tests.http.serving import Serving, serving
from tests.http.test_access import BODIES, QUERIES
from toprung.domain.access import VERBS
from toprung.http.routes import ROUTES
from toprung.http.routing import Route
from toprung.http.settings import ServiceSettings

BOARDS: Final = ("secret", "open")
"""A private board, and a public one."""

_PUBLIC: Final = """get_board list_periods list_scopes get_distribution list_standings get_standing
get_around get_around_score find_players watch_board lookup_standings"""
_READ: Final = """list_boards list_archives list_submissions list_activity get_history
get_friends_standings get_player list_player_standings list_friends get_proof"""
_OWN: Final = """get_standing list_submissions get_history get_friends_standings get_player
list_player_standings list_friends"""
"""What alice's own token may, on private boards, too; what alice is named in comes in the path."""
_WRITE: Final = "submit submit_batch start_run put_player patch_player befriend unfriend"
_ADMIN: Final = """put_board patch_board delete_board close_period settle_period amend_period
verify_archive remove_standing export_player erase_player
list_keys create_key patch_key rotate_key revoke_key backup get_status rebuild_follower
list_webhooks put_webhook get_webhook delete_webhook list_deliveries get_delivery replay_delivery
test_webhook list_leaves list_acts list_refusals"""
_MODERATE: Final = """put_restriction get_restriction lift_restriction list_restrictions
revoke_submission list_name_reviews review_name list_review claim_review decide_submission"""
_OPEN: Final = """metrics healthz readyz openapi docs asyncapi live_docs get_log_key get_checkpoint
get_consistency"""

NEEDS: Final[dict[str, str]] = {
    name: needs
    for needs, names in {
        "public": _PUBLIC,
        "read": _READ,
        "write": _WRITE,
        "moderate": _MODERATE,
        "admin": _ADMIN,
        "": _OPEN,
    }.items()
    for name in names.split()
}
SHOWS_NOTHING: Final = {"list_boards", "list_webhooks"}
"""What answers a key of other boards with an empty list."""
PASSED: Final = {
    **dict.fromkeys(("create_key", "put_webhook"), 201),
    **dict.fromkeys(
        ["delete_board", "remove_standing", "erase_player", "befriend", "unfriend"], 204
    ),
    "rebuild_follower": 204,
    "lift_restriction": 204,
    **dict.fromkeys(["get_restriction", "revoke_submission"], 404),
    **dict.fromkeys(["get_webhook", "delete_webhook", "list_deliveries", "get_delivery"], 404),
    **dict.fromkeys(["replay_delivery", "test_webhook", "revoke_key", "verify_archive"], 404),
    **dict.fromkeys(("patch_key", "rotate_key", "close_period", "settle_period"), 404),
    "amend_period": 404,
    "review_name": 404,
    "get_proof": 404,
    "decide_submission": 404,
}
"""What is answered to who may ask, if it is not 200: there are no such webhooks, keys, periods."""


@pytest.fixture(scope="module")
def guarded(targets: Targets, issuer: Issuer, tmp_path_factory: Any) -> Iterator[Serving]:
    tokens = issuer.settings(tmp_path_factory.mktemp("keys"))
    settings = ServiceSettings(needs_keys=True, tokens=tokens)
    with serving(settings, target=targets.fresh()) as running:
        arrange(running)
        yield running


@pytest.fixture(scope="module")
def callers(guarded: Serving, issuer: Issuer) -> dict[str, str | None]:
    """Kinds of callers, and what each shows."""
    assert guarded.key is not None
    almost = guarded.key[:-1] + ("A" if guarded.key[-1] != "A" else "B")
    keys = {str(verb): guarded.post_key(verbs=[verb]) for verb in VERBS}
    return {
        "none": None,
        "nonsense": "nonsense",
        "unknown": "tr_aaaaaaaa_" + "A" * 43,
        "almost": almost,
        "elsewhere": guarded.post_key(boards=["other-*", "sec", "ope"]),
        "expired": expired_key(guarded),
        "far away": guarded.post_key(addresses=["192.0.2.0/24", "2001:db8::/32"]),
        **keys,
        "own token": issuer.token("alice"),
        "own token, RS256": issuer.token("alice", "RS256"),
        "own token, by kid": issuer.token("alice", "ES256", "ec-1", boards=["*"]),
        "other's token": issuer.token("bob", "EdDSA", "ed-1"),
        "token elsewhere": issuer.token("alice", boards=["other-*", "sec", "ope"]),
        **{f"token: {name}": token for name, token in issuer.wrong().items()},
    }


def expired_key(running: Serving) -> str:
    """A key that was valid once."""
    text = running.post_key()
    assert running.service.state.boards.keys is not None
    store = running.service.state.boards.keys._store
    assert running.run(store.edit(text.split("_")[1], {"expires_at": 1}))
    assert running.http.get("/v1/keys").is_success  # they are read again
    return text


def arrange(running: Serving) -> None:
    """Have everything there that requests are about."""
    http = running.http
    for board in BOARDS:
        rules = {"public": board == "open", "windows": ["all-time"]}
        assert http.put(f"/v1/boards/{board}", json=rules).is_success
        body = {"player": "alice", "score": 5, "details": "tactics"}
        assert http.post(f"/v1/boards/{board}/scores", json=body).is_success
    assert http.put("/v1/players/alice", json={"name": "Alice"}).is_success
    assert http.put("/v1/players/alice/friends/bob").is_success
    http.delete("/v1/webhooks/chat")
    http.delete("/v1/players/alice/restriction")


def everything(running: Serving) -> list[Any]:
    """All that a request could have changed."""
    paths = [f"boards/{board}{part}" for board in BOARDS for part in ("", "/standings")]
    paths += ["boards", "players/alice", "players/alice/friends", "restrictions"]
    paths += ["webhooks", "status"]
    paths += [f"boards/{board}/players/alice/submissions" for board in BOARDS]
    seen = [running.http.get(f"/v1/{path}").json() for path in paths]
    seen[-3] = sorted(each["name"] for each in seen[-3]["followers"])
    keys = running.http.get("/v1/keys").json()["keys"]
    seen.append(running.run(running.service.state.boards._journal.last_position()))
    return [*seen, [{**key, "last_used_at": None} for key in keys]]


def expected(name: str, caller: str, board: str) -> int:
    """The status by the table."""
    needs, passed = NEEDS[name], PASSED.get(name, 200)
    if needs == "" or (needs == "public" and board == "open" and caller in GENUINE | {"none"}):
        return passed
    if caller == "far away":
        return 403
    if caller not in GENUINE:
        return 401
    if caller == "elsewhere":
        return 200 if name in SHOWS_NOTHING else 403
    if "token" in caller:
        return 200 if caller.startswith("own") and name in _OWN.split() else 403
    verb = "read" if needs == "public" else needs
    allowed = {verb, "admin"} if verb == "moderate" else {verb}
    return passed if caller in allowed else 403


TOKENS: Final = (
    *("own token", "own token, RS256", "own token, by kid"),
    *("other's token", "token elsewhere"),
)
GENUINE: Final = {"elsewhere", *VERBS, *TOKENS}
"""Who may read what is public; wrong keys and tokens are refused there, too."""


def ask(running: Serving, route: Route, shown: str | None, board: str) -> int:
    headers = {} if shown is None else {"authorization": f"Bearer {shown}"}
    body = _BODIES.get(route.name)
    if body is None and (route.method in ("POST", "PUT") or route.expects_json):
        body = {}
    path, query = route.path.format(**NAMES | {"board": board}), QUERIES.get(route.name)
    asked = running.anyone.stream(route.method, path, json=body, headers=headers, params=query)
    with asked as answer:
        _check_challenge(answer)
        return answer.status_code


def _check_challenge(answer: httpx2.Response) -> None:
    challenge = answer.headers.get("www-authenticate", "")
    assert challenge.startswith("Bearer") == (answer.status_code == 401)


_BODIES: Final[dict[str, Any]] = BODIES | {
    "submit": {"player": "alice", "score": 10**6},
    "amend_period": {"reason": "none", "remove": ["alice"]},
    "patch_key": {"verbs": ["admin"]},
}


def test_the_table_here_knows_every_route() -> None:
    assert {route.name for route in ROUTES} == set(NEEDS)


def test_the_table_here_is_what_operations_declare() -> None:
    for route in ROUTES:
        access = route.access
        declared = "public" if access.public else access.verb or ""
        assert declared == NEEDS[route.name], route.name
        assert (access.own == "path") == (route.name in _OWN.split()), route.name
    others = {route.name: route.access.own for route in ROUTES if route.access.own != "path"}
    assert {name: own for name, own in others.items() if own} == {
        "start_run": "body",
        "submit": "body",
        "watch_board": "query",
    }


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: str(route.name))
def test_every_caller_gets_its_status_and_who_is_refused_changes_nothing(
    guarded: Serving, callers: dict[str, str | None], route: Route, board: str
) -> None:
    if route.name == "backup" and guarded.service.state.boards.reads_suspend:
        pytest.skip("a cluster is backed up by the tools of its servers")
    told = {caller: expected(route.name, caller, board) for caller in callers}
    before = everything(guarded)
    refused = {caller for caller, status in told.items() if status in (401, 403)}
    answers = {caller: ask(guarded, route, callers[caller], board) for caller in refused}
    if refused:
        assert everything(guarded) == before
    for caller in callers.keys() - refused:
        answers[caller] = ask(guarded, route, callers[caller], board)
        if NEEDS[route.name] not in ("", "public", "read"):
            arrange(guarded)
    assert answers == told
