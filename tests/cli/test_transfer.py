"""`toprung import` and `toprung export`: round trips, hostile files, and second runs."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Cli, Result
from toprung.cli.csv_rows import CsvRows
from toprung.cli.guard import guarded, unguarded
from toprung.cli.json_rows import JsonRows
from toprung.cli.rows import LINE_BYTES_MAX, BadRow, GoodRow, Lines, ReadRules

_numbers = itertools.count(1)
RULES = ReadRules(label="test")
AT = "2026-11-01T10:00:00Z"
HOSTILE = [
    "=cmd|' -C calc'!A0",
    "+1",
    "-2+3",
    "@SUM(A1)",
    "'quoted",
    "''twice",
    'comma, "quote"; semi',
    "\u202etxt.exe",
    "＝1",
    "[bold]x[bold]",
    "日本語 👩‍🚀",
]


@pytest.fixture
def board(there: Cli) -> str:
    name = f"moved-{next(_numbers)}"
    there("board", "create", name, "--policy", "sum", "--window", "all-time")
    return name


def write(text: str | bytes, name: str = "data.csv") -> str:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return name


def counts(result: Result) -> tuple[int, int, int, int]:
    found = json.loads(result.out)
    return found["accepted"], found["unchanged"], found["duplicates"], found["rejected"]


# --- there and back ---------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["out.csv", "out.jsonl"])
def test_what_export_wrote_import_takes_back(there: Cli, board: str, file: str) -> None:
    for number, name in enumerate(HOSTILE):
        player = f"{board} {name}"
        there("submit", board, player, str(number - 5), "--at", AT, "--details", '{"n": 1.5}')
        there("player", "set", player, "--name", name, "--attribute", "country=PT")
        there("submit", board, f"{name[:9]}{board}", "-77", "--at", AT)
    assert there("export", board, file, "--details").code == 0
    other = f"{board}-copy"
    there("board", "create", other, "--policy", "sum", "--window", "all-time")
    result = there("import", other, file, "--names", "--json")
    assert counts(result) == (2 * len(HOSTILE), 0, 0, 0)
    there("player", "patch", f"{board} +1", "--name", "changed")
    assert there("import", other, file, "--names").code == 0
    before, after = (there("export", each, "--details").out for each in (board, other))
    assert after == before
    assert there("player", "show", f"{board} +1", "--json").json["attributes"] == {"country": "PT"}


def test_csv_cells_are_text_or_numbers_and_never_formulas(there: Cli, board: str) -> None:
    for name in HOSTILE:
        there("submit", board, f"{name[:20]}{board}", "-5", "--at", AT)
    rows = list(csv.DictReader(io.StringIO(there("export", board).out)))
    assert {row["score"] for row in rows} == {"-5"}
    assert [row["player"] for row in rows if row["player"][0] in "=+-@＝"] == []
    raw = list(csv.DictReader(io.StringIO(there("export", board, "--verbatim").out)))
    assert {row["player"] for row in raw} == {f"{name[:20]}{board}" for name in HOSTILE}


@given(st.text())
def test_the_guard_comes_off_again(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert guarded(text)[:1] not in tuple("=+-@\t\r\n＝＋－＠")


def test_an_export_never_overwrites(cli: Cli) -> None:
    cli("board", "create", "b")
    write("precious")
    refused = cli("export", "b", "data.csv")
    assert (refused.code, Path("data.csv").read_text()) == (1, "precious")


# --- second runs ------------------------------------------------------------------------------


def test_a_second_run_counts_nothing_twice(there: Cli, board: str) -> None:
    file = write("player,score\nalice,5\nalice,5\nbob,7\n")
    assert counts(there("import", board, file, "--json")) == (3, 0, 0, 0)
    assert counts(there("import", board, file, "--json")) == (0, 0, 3, 0)
    write("player,score\nalice,5\nalice,5\nbob,7\ncarol,1\n")  # the file has grown
    assert counts(there("import", board, file, "--json")) == (1, 0, 3, 0)
    scores = {s["player"]: s["score"] for s in there("top", board, "--json").json["standings"]}
    assert scores == {"alice": 10, "bob": 7, "carol": 1}
    other = write("player,score\nalice,5\n", "february.csv")  # another file is another import
    assert counts(there("import", board, other, "--json")) == (1, 0, 0, 0)
    assert counts(there("import", board, other, "--json", "--no-keys")) == (1, 0, 0, 0)


def test_a_key_column_names_rows_wherever_they_stand(there: Cli, board: str) -> None:
    first = write("key,player,score\nr1,alice,5\nr2,bob,7\n", "a.csv")
    second = write('{"key": "r2", "player": "bob", "score": 7}\n', "b.jsonl")
    changed = write("key,player,score\nr2,bob,8\n", "c.csv")
    assert counts(there("import", board, first, "--json")) == (2, 0, 0, 0)
    assert counts(there("import", board, second, "--json")) == (0, 0, 1, 0)
    assert there("import", board, changed, "--json").code == 3


# --- bad rows ---------------------------------------------------------------------------------


def test_bad_rows_go_to_a_file_with_their_lines(there: Cli, board: str) -> None:
    file = write(
        "player,score,at\n"
        f"alice,5,{AT}\n"
        "\n"
        "bob,many,\n"
        "carol,1,2,3\n"
        f"=dave,-7,{AT}\n"
        "eve,1,yesterday\n"
        ",1,\n"
    )
    result = there("import", board, file)
    assert result.code == 3
    assert result.out == "6 rows: 2 accepted, 0 unchanged, 0 repeated, 4 rejected\n"
    rows = list(csv.reader(Path("data.csv.rejects.csv").read_text().splitlines()))
    assert rows[0] == ["line", "reason", "player", "score", "at"]
    assert [row[0] for row in rows[1:]] == ["4", "5", "7", "8"]
    assert rows[1][1] == "score: is not a number: 'many'"
    again = there("import", board, file)
    assert again.code == 3
    assert Path("data.csv.rejects-2.csv").read_text() == Path("data.csv.rejects.csv").read_text()
    mended = Path("data.csv.rejects.csv").read_text().replace("many", "3").replace("yesterday", AT)
    fixed = there("import", board, write(mended, "mended.csv"), "--json")
    assert counts(fixed) == (2, 0, 0, 2)


def test_bad_lines_of_json(there: Cli, board: str) -> None:
    file = write(
        b'{"player": "alice", "score": 9007199254740993, "rank": 1}\n'
        b"{broken\n"
        b'{"player": "bob", "score": 1, "score": 2}\n'
        b'{"player": "carol", "scoer": 1}\n'
        b"[1, 2]\n"
        b'{"player": "caf\xe9", "score": 1}\n'
        b'{"player": "dave", "score": "1e3", "details": {"x": 1.50}}\n'
        b'{"player": "eve", "score": 1.5}\n',
        "data.jsonl",
    )
    result = there("import", board, file, "--json")
    assert (result.code, counts(result)) == (3, (2, 0, 0, 6))
    lines = [json.loads(line) for line in Path("data.jsonl.rejects.jsonl").read_text().splitlines()]
    assert [line["line"] for line in lines] == [2, 3, 4, 5, 6, 8]
    assert lines[1]["reason"] == "score: is given twice"
    assert lines[2]["player"] == "carol"
    top = there("top", board, "--json").json["standings"]
    assert [s["score"] for s in top] == [9007199254740993, 1000]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"player,points\nalice,5\n", "score: the header line must name this column"),
        (b"", "player: the header line must name this column"),
        (b"player,score,scroe\nalice,5,6\n", "scroe: is not one of"),
        (b"player,score,score\n", "names a column twice"),
        (gzip.compress(b"player,score\nalice,5\n", mtime=0), "gunzip"),
        ("player,score\nalice,5\n".encode("utf-16"), "iconv"),
        (b"\xff\xff\xfe,score\n", "the header line cannot be read: line 1 is not UTF-8 text"),
        (b"x" * (LINE_BYTES_MAX + 9), "the header line cannot be read: line 1 has more than"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_whole(
    cli: Cli, content: bytes, expected: str
) -> None:
    cli("board", "create", "b")
    result = cli("import", "b", write(content))
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert expected in result.err
    assert cli("top", "b", "--json").json["total"] == 0


def test_other_headers(cli: Cli) -> None:
    cli("board", "create", "b")
    write("\ufeffuser;points;mood\r\nalice;5;good\r\nbob;6;bad\r\n")
    columns = ("--column", "player=user", "--column", "score=points")
    assert counts(cli("import", "b", "data.csv", *columns, "--ignore-others", "--json"))[0] == 2
    assert cli("import", "b", "data.csv", "--column", "points").code == 2
    assert cli("import", "b", "data.csv", "--column", "points=score").code == 1


def test_standard_input_and_output(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("board", "create", "b")
    for text in ("player,score\nalice,5\n", '{"player": "bob", "score": 4}\n'):
        stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode())))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert counts(cli("import", "b", "--json")) == (1, 0, 0, 0)
    assert [
        json.loads(line)["player"] for line in cli("export", "b", "--json").out.splitlines()
    ] == [
        "alice",
        "bob",
    ]


# --- readers, whatever they are given ----------------------------------------------------------


def rows_of(kind: type, content: bytes) -> list[GoodRow | BadRow]:
    return list(kind(Lines(io.BytesIO(content)), RULES))


@given(st.binary(max_size=300))
def test_readers_survive_anything(content: bytes) -> None:
    header = b"player,score\n"
    for row in rows_of(CsvRows, header + content) + rows_of(JsonRows, content):
        assert isinstance(row, GoodRow | BadRow)


def test_a_long_line_is_passed_over_and_a_stray_quote_costs_a_bounded_piece() -> None:
    long = b"x" * (3 * LINE_BYTES_MAX)
    rows = rows_of(CsvRows, b"player,score\na,1\n" + long + b"\nb,2\n")
    assert [(type(row).__name__, row.line) for row in rows] == [
        ("GoodRow", 2),
        ("BadRow", 3),
        ("GoodRow", 4),
    ]
    many = b"".join(b"p%d,1\n" % number for number in range(40_000))
    stray = rows_of(CsvRows, b'player,score\n"oops,1\n' + many)
    bad = [row for row in stray if isinstance(row, BadRow)]
    assert len(bad) == 1
    assert bad[0].reason.startswith("lines 2 to ")
    assert len(stray) > 20_000


def test_nul_bytes_are_no_players(cli: Cli) -> None:
    cli("board", "create", "b")
    result = cli("import", "b", write(b"player,score\na\0b,1\nc,2\n"), "--json")
    assert (result.code, counts(result)) == (3, (1, 0, 0, 1))
