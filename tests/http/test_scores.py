"""Routes that submit scores, and those that show what was submitted."""

from __future__ import annotations

import asyncio

import httpx2
import pytest

from tests.conftest import RunningService
from tests.http.conftest import MakeBoard, pointers, problem_of


def test_a_submission_answers_with_its_ranks(http: httpx2.Client, board: str) -> None:
    url = f"/v1/boards/{board}/scores"
    http.post(url, json={"player": "bob", "score": 50})
    first = http.post(url, json={"player": "alice", "score": 40}).json()
    assert first["status"] == "accepted"
    assert first["skipped"] == {}
    assert first["standings"]["all-time"] == {
        "period": "all",
        "score": 40,
        "rank": 2,
        "previous_score": None,
        "previous_rank": None,
        "total": 2,
    }
    second = http.post(url, json={"player": "alice", "score": 60}).json()
    assert second["submission"] > first["submission"]
    daily = second["standings"]["daily"]
    assert (daily["rank"], daily["previous_rank"], daily["previous_score"]) == (1, 2, 40)
    third = http.post(url, json={"player": "alice", "score": 10}).json()
    assert third["status"] == "unchanged"
    assert third["standings"]["all-time"]["score"] == 60


@pytest.mark.parametrize(
    ("decimals", "sent", "shown"),
    [
        (0, "9223372036854775807", "9223372036854775807"),
        (0, "-9223372036854775808", "-9223372036854775808"),
        (0, '"9007199254740993"', "9007199254740993"),
        (0, "1e3", "1000"),
        (2, "92233720368547758.07", "92233720368547758.07"),
        (2, '"0.07"', "0.07"),
        (9, "0.000000001", "0.000000001"),
        (1, "1.50", "1.5"),
    ],
)
def test_numbers_are_exact_both_ways(
    http: httpx2.Client, make_board: MakeBoard, decimals: int, sent: str, shown: str
) -> None:
    board = make_board(decimals=decimals)
    body = f'{{"player": "alice", "score": {sent}}}'
    answer = post_text(http, f"/v1/boards/{board}/scores", body)
    assert f'"score":{shown},' in answer.text
    assert f'"score":{shown},' in http.get(f"/v1/boards/{board}/standings/alice").text
    text = http.get(f"/v1/boards/{board}/standings/alice?numbers=string").json()["score"]
    assert text == ("0.000000001" if decimals == 9 else shown)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ('{"player": "alice"}', "/score"),
        ('{"score": 1}', "/player"),
        ('{"player": "alice", "score": null}', "/score"),
        ('{"player": "alice", "score": true}', "/score"),
        ('{"player": "alice", "score": [1]}', "/score"),
        ('{"player": "alice", "score": "ten"}', "/score"),
        ('{"player": "alice", "score": 1.5}', "/score"),
        ('{"player": "alice", "score": 9223372036854775808}', "/score"),
        ('{"player": "alice", "score": 1e400}', "/score"),
        ('{"player": "", "score": 1}', "/player"),
        ('{"player": "a/b", "score": 1}', "/player"),
        ('{"player": "..", "score": 1}', "/player"),
        ('{"player": "a\\u0007", "score": 1}', "/player"),
        ('{"player": 7, "score": 1}', "/player"),
        ('{"player": "alice", "score": 1, "points": 2}', "/points"),
        ('{"player": "alice", "score": 1, "at": "yesterday"}', "/at"),
        ('{"player": "alice", "score": 1, "at": "2026-11-15T12:00:00"}', "/at"),
        ('{"player": "alice", "score": 1, "at": "2999-01-01T00:00:00Z"}', "/at"),
        ('{"player": "alice", "score": 1, "subscore": 1}', "/subscore"),
        ('{"player": "alice", "score": 1, "key": ""}', "/key"),
        ('{"player": "alice", "score": 1, "details": "' + "x" * 1024 + '"}', "/details"),
        ('[{"player": "alice", "score": 1}]', ""),
    ],
)
def test_a_bad_submission_is_refused_and_changes_nothing(
    http: httpx2.Client, board: str, body: str, pointer: str
) -> None:
    answer = post_text(http, f"/v1/boards/{board}/scores", body)
    assert answer.status_code == 422, answer.text
    assert pointers(answer.json()) == [pointer]
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b'{"player": "alice", "score": 1} {}',
        b'{"player": "alice", "score": NaN}',
        b'{"player": "alice", "score": Infinity}',
        b'{"player": "alice", "score": 01}',
        b'{"player": "alice", "score": 1, "score": 2}',
        b'{"player": "alice", "score": 1, "pl\\u0061yer": "bob"}',
        b'{"player": "alice", "score": 1, "details": {"a": 1, "a": 2}}',
        b'{"player": "\xff", "score": 1}',
        b'{"player": "alice", "score": 1, "details": "\xff"}',
        b'{"player": "\\ud800", "score": 1}',
        b'{"player": "alice", "score": 1, "details": "\\ud800"}',
        b'{"player": "alice", "score": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
        '{"player": "alice", "score": 1}'.encode("utf-16"),
    ],
    ids=lambda body: body[:60].decode("latin-1"),
)
def test_what_is_not_json_is_refused_and_changes_nothing(
    http: httpx2.Client, board: str, body: bytes
) -> None:
    answer = post_text(http, f"/v1/boards/{board}/scores", body)
    problem_of(answer, 400, "malformed")
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 0


def test_an_integer_beyond_64_bits_is_refused_in_details(http: httpx2.Client, board: str) -> None:
    body = '{"player": "alice", "score": 1, "details": {"seed": 9223372036854775808}}'
    answer = post_text(http, f"/v1/boards/{board}/scores", body)
    assert answer.status_code == 422
    fits = body.replace("9223372036854775808", "-9223372036854775808")
    assert post_text(http, f"/v1/boards/{board}/scores", fits).status_code == 200


def test_details_come_back_as_they_were(http: httpx2.Client, board: str) -> None:
    details = {"map": "küste", "splits": [1.5, 2.25], "quote": 'say "hi"', "none": None}
    body = {"player": "alice", "score": 1, "details": details}
    assert http.post(f"/v1/boards/{board}/scores", json=body).status_code == 200
    page = http.get(f"/v1/boards/{board}/standings", params={"include": "details"}).json()
    assert page["standings"][0]["details"] == details
    assert "details" not in http.get(f"/v1/boards/{board}/standings").json()["standings"][0]
    url = f"/v1/boards/{board}/players/alice/submissions"
    assert http.get(url).json()["submissions"][0]["details"] == details


def test_a_key_makes_a_repeat_harmless(http: httpx2.Client, make_board: MakeBoard) -> None:
    board = make_board(policy="sum")
    url, body = f"/v1/boards/{board}/scores", {"player": "alice", "score": 5}
    first = http.post(url, json=body | {"key": "run-1"})
    assert "idempotent-replayed" not in first.headers
    again = http.post(url, json=body, headers={"Idempotency-Key": "run-1"})
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json()["submission"] == first.json()["submission"]
    assert http.get(f"/v1/boards/{board}/standings/alice").json()["score"] == 5
    other = http.post(url, json=body | {"score": 6, "key": "run-1"})
    assert pointers(problem_of(other, 422, "key-reused")) == ["/key"]
    both = http.post(url, json=body | {"key": "run-2"}, headers={"Idempotency-Key": "run-3"})
    assert pointers(problem_of(both, 422, "invalid")) == ["/key"]
    assert http.get(f"/v1/boards/{board}/standings/alice").json()["score"] == 5


def test_a_late_submission_names_the_windows_it_missed(http: httpx2.Client, board: str) -> None:
    body = {"player": "alice", "score": 5, "at": "2020-01-01T00:00:00+01:00"}
    answer = http.post(f"/v1/boards/{board}/scores", json=body).json()
    assert answer["skipped"] == {"daily": "not-retained"}
    assert set(answer["standings"]) == {"all-time"}


def test_a_batch_counts_good_rows_and_names_bad_ones(http: httpx2.Client, board: str) -> None:
    rows = [
        {"player": "alice", "score": 10},
        {"player": "bob", "score": "20", "key": "b"},
        {"player": "bob", "score": "20", "key": "b"},
        {"player": "a/b", "score": 1},
        {"player": 3, "score": 1},
        {"player": "carol"},
        {"player": "carol", "score": 1, "rank": 1},
        "carol",
        {"player": "alice", "score": 5},
        {"player": "dave", "score": 1.5},
        {"player": "erin", "score": 7, "details": {"x": 1}},
    ]
    answer = http.post(f"/v1/boards/{board}/scores/batch", json=rows)
    assert answer.status_code == 200
    result = answer.json()
    assert (result["accepted"], result["unchanged"], result["duplicates"]) == (3, 1, 1)
    assert [row["pointer"] for row in result["rejected"]] == [
        "/3/player", "/4/player", "/5/score", "/6/rank", "/7", "/9/score",
    ]  # fmt: skip
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 3


def test_a_batch_has_its_limits(http: httpx2.Client, board: str) -> None:
    url = f"/v1/boards/{board}/scores/batch"
    rows = [{"player": f"p{n}", "score": n} for n in range(10_001)]
    problem_of(http.post(url, json=rows), 422, "invalid")
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 0
    assert http.post(url, json=rows[:10_000]).json()["accepted"] == 10_000
    assert http.post(url, json=[]).json()["accepted"] == 0
    problem_of(http.post(url, json={"player": "alice", "score": 1}), 422, "invalid")
    twice = '[{"player": "alice", "score": 1, "score": 2}]'
    problem_of(post_text(http, url, twice), 400, "malformed")


def test_submissions_are_listed_newest_first(http: httpx2.Client, board: str) -> None:
    for score in (1, 3, 2):
        http.post(f"/v1/boards/{board}/scores", json={"player": "alice", "score": score})
    url = f"/v1/boards/{board}/players/alice/submissions"
    page = http.get(url, params={"limit": 2}).json()
    assert [(row["score"], row["status"]) for row in page["submissions"]] == [
        (2, "unchanged"), (3, "accepted"),
    ]  # fmt: skip
    rest = http.get(url, params={"limit": 2, "cursor": page["next"]}).json()
    assert [row["score"] for row in rest["submissions"]] == [1]
    assert rest["next"] is None


def post_text(http: httpx2.Client, url: str, body: str | bytes) -> httpx2.Response:
    return http.post(url, content=body, headers={"content-type": "application/json"})


def test_repeats_at_the_same_time_count_once(
    service: RunningService, make_board: MakeBoard, http: httpx2.Client
) -> None:
    board = make_board(policy="sum", windows=["all-time"])

    async def submit_often() -> list[httpx2.Response]:
        async with httpx2.AsyncClient(base_url=service.url, timeout=20) as client:
            body = {"player": "alice", "score": 5, "key": "once"}
            url = f"/v1/boards/{board}/scores"
            return await asyncio.gather(*(client.post(url, json=body) for _ in range(30)))

    answers = asyncio.run(submit_often())
    assert {answer.status_code for answer in answers} == {200}
    assert sum("idempotent-replayed" not in answer.headers for answer in answers) == 1
    assert len({answer.json()["submission"] for answer in answers}) == 1
    assert http.get(f"/v1/boards/{board}/standings/alice").json()["score"] == 5
