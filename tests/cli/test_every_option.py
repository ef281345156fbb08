"""Whatever a command offers, it does, on every kind of target: no option is refused afterwards."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.docs.test_cli_reference import COMMANDS, options_of
from toprung.cli.options import Database, Target
from toprung.domain.score import DECIMALS_MAX
from toprung.operations.requests import TOP_MAX
from toprung.service.audit import ACTS_MAX
from toprung.service.distribution import BUCKETS_MAX
from toprung.service.pages import LIMIT_MAX
from toprung.service.read import AROUND_MAX, FOUND_MAX
from toprung.service.webhooks.service import LISTED_MAX

# One script that uses every option. {id} is the id of the key that was made; {n} tells targets
# apart that share a service; board and player names have it, too.
SCRIPT = """
board create b{n} --title T --order desc --policy best --decimals 2 --subscore asc
    --tie-break first --ranking competition --window all-time --window daily
    --default-window all-time --timezone Europe/Oslo --scope country --private --score-min 0
    --score-max 1000 --max-increase 100 --history day --trust player
    --run '{{"min_seconds": 0}}'
board create c{n} --public
board change b{n} --title U --order desc --policy best --decimals 2 --subscore asc
    --tie-break first --ranking dense --window all-time --window daily --default-window daily
    --timezone UTC --scope country --public --score-min 1 --score-max 900 --max-increase 90
    --reset max-increase --history week --trust server
    --run '{{"max_seconds": 60}}'
board change b{n} --private
board list
board show b{n}
player set a{n} --name Ann --avatar-url https://example.org/a.png --attribute country=PT
player patch a{n} --name Ann --avatar-url https://example.org/a.png --attribute country=PT
submit b{n} a{n} 5 --at 2026-11-01T10:00:00Z --subscore 3 --details '{{"car": "red"}}'
    --submission-key k
submit b{n} z{n} 7 --subscore 1
runs start b{n} a{n}
top b{n} --window all-time --period all --scope country:PT --ranking dense --count 3 --from 1
    --movement --viewer z{n}
top b{n} -n 3
rank b{n} a{n} --window all-time --period all --scope country:PT --ranking ordinal --movement
    --viewer a{n}
around b{n} a{n} --above 1 --below 1 --window all-time --period all --scope global
    --ranking dense --movement --viewer a{n}
around b{n} --score 4 --window all-time
find b{n} An --window all-time --period all --scope global --ranking dense --count 5 --movement
find b{n} An -n 5 --viewer a{n}
history b{n} a{n} --window all-time --scope global --count 5
history b{n} a{n} -n 5 --ranking dense
submissions b{n} a{n} --count 5
submissions b{n} a{n} -n 1
activity b{n} --count 5 --scope global
activity b{n} -n 1
periods b{n} --window daily
board create p{n} --window
    '{{"name": "cup", "starts": "2026-01-01T00:00:00Z", "ends": "2026-02-01T00:00:00Z"}}'
submit p{n} a{n} 5 --at 2026-01-10T00:00:00Z
period close p{n} cup cup --dry-run --yes
period close p{n} cup cup --yes
period settle p{n} cup cup --dry-run --yes
period settle p{n} cup cup --yes
period amend p{n} cup cup --reason typo --set a{n}=6 --dry-run --yes
period amend p{n} cup cup --reason cheat --remove a{n} --yes
moderate restrict z{n} --kind shadow --reason bot --board b{n} --until 2099-01-01T00:00:00Z
moderate show z{n}
moderate list --count 5 --after 0
moderate list -n 5
moderate lift z{n}
moderate revoke {sent} --reason typo --dry-run --yes
moderate revoke {sent} --reason typo --yes
archive list p{n} --window cup
archive verify p{n} --window cup
board create r{n} --window all-time --rate '{{"submissions": 9, "seconds": 60}}'
    --max-per '{{"amount": 9, "seconds": 1}}' --review '{{"when": {{"top": 5}}}}'
board change r{n} --rate '{{"submissions": 8, "seconds": 60}}'
    --max-per '{{"amount": 8, "seconds": 1}}' --review '{{"when": {{"top": 4}}}}'
submit r{n} a{n} 5
submit r{n} z{n} 6
review list --order oldest --board r{n} --count 5
review list -n 5
review claim me --seconds 9 --order oldest --board r{n}
review accept {claimed} --reason good --by me --claim {claim}
review claim me --board r{n}
review reject {claimed} --reason bad --by me --claim {claim}
distribution b{n} --buckets 4 --window all-time --period all --scope country:PT --viewer a{n}
watch b{n} --window all-time --scope global --count 5 --updates 1
watch b{n} -n 5 --updates 1
player show a{n}
names list --count 5 --after a
names list -n 5
friend add a{n} z{n}
friend list a{n}
friend top b{n} a{n} --window all-time --period all --scope global --ranking dense --count 5
friend top b{n} a{n} -n 5 --movement --viewer a{n}
friend remove a{n} z{n}
import c{n} in.csv --format csv --column player=who --ignore-others --names --keys --label L
    --rejects out.rejects --verbatim
import c{n} in.csv --column player=who --ignore-others --no-keys
export c{n} out.csv --format csv --details --verbatim --window all-time --period all
    --scope global --ranking dense --viewer a{n}
follower rebuild activity
audit show --actor cli --on b{n} --since 2026-01-01T00:00:00Z
    --until 2027-01-01T00:00:00Z --count 5 --cursor 9
audit show -n 5
audit key
audit checkpoint
audit export -
webhook set w{n} https://example.org/hook --event leader.changed --board 'b*'
    --secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
webhook list
webhook show w{n}
webhook deliveries w{n} --state dead --count 5 --cursor 9
webhook deliveries w{n} -n 5
webhook delete w{n}
keys create --name N --verb read --board 'b*' --owner somebody --expires 2097-01-01T00:00:00Z
    --address 10.0.0.0/8
keys list
keys edit {id} --name M --verb write --board 'c*' --expires never --address any
keys rotate {id} --overlap 60
keys revoke {id}
remove b{n} a{n} --yes
player export a{n} -
player erase a{n} --yes
board delete c{n} --yes
"""
ONCE = {"--db", "--url", "--key", "--json"}
"""What says where and how; every line is run with it."""
WITHOUT_A_TARGET = {"serve", "work", "demo", "migrate", "version", "runs rotate", "audit verify"}
LINES = [shlex.split(line) for line in re.sub(r"\n\s+", " ", SCRIPT.strip()).splitlines()]


def target_of(name: str) -> set[str]:
    """Which of the options that say where it has."""
    return options_of(COMMANDS[name]) & ONCE


def command_of(line: list[str]) -> str:
    return " ".join(line[:2]) if " ".join(line[:2]) in COMMANDS else line[0]


def run_lines(cli: Cli, where: list[str]) -> None:
    Path("in.csv").write_text("who,score,extra\nwalt,5,x\n")
    made: dict[str, Any] = {"n": "1", "id": ""}
    for line in LINES:
        words = [word.format_map(made) for word in line]
        quiet = [] if line[0] == "export" else ["--json"]
        result = cli(*words, *quiet, *where)
        assert (result.code, result.err.count("toprung:")) == (0, 0), (words, result)
        if line[:3] == ["submit", "b{n}", "a{n}"]:
            made["sent"] = json.loads(result.out)["submission"]
        if line[:2] == ["review", "claim"]:
            told = json.loads(result.out)
            made |= {"claim": told["claim"], "claimed": str(told["submission"]["submission"])}
        if line[:2] == ["keys", "create"]:
            made["id"] = json.loads(result.out)["id"]


def test_on_a_file(cli: Cli) -> None:
    run_lines(cli, ["--db", "mine.db"])
    for line in (
        *("status", "verify", "rebuild", "backup copy.db", "doctor"),
        "restore copy.db --overwrite",
    ):
        assert cli(*line.split(), "--db", "mine.db", "--json").code == 0, line


def test_on_a_service(cli: Cli, service: Any) -> None:
    run_lines(cli, ["--url", service.url])
    for line in ("status", "backup copy.db", "doctor"):
        assert cli(*line.split(), "--url", service.url, "--json").code == 0, line


def test_on_a_cluster(cli: Cli, cluster_file: Path) -> None:
    secrets = cluster_file.with_name("secrets")
    assert cli("runs", "rotate", str(secrets)).code == 0
    with cluster_file.open("a") as file:
        file.write(f'run_secrets = "{secrets}"\n')
    run_lines(cli, ["--db", str(cluster_file)])
    for line in ("verify", "rebuild"):
        assert cli(*line.split(), "--db", str(cluster_file), "--json").code == 0, line


def test_the_script_uses_every_option_of_every_command() -> None:
    used: dict[str, set[str]] = {name: set() for name in COMMANDS}
    for line in LINES:
        used[command_of(line)] |= {word for word in line if word.startswith("-")}
    elsewhere = {"status", "verify", "rebuild", "backup", "doctor", "restore", *WITHOUT_A_TARGET}
    unused = {
        name: options_of(command) - used[name] - ONCE
        for name, command in COMMANDS.items()
        if name not in elsewhere
    }
    for name in ("submissions", "activity", "friend top"):
        unused[name] -= {"--cursor"}  # needs an earlier answer: test_overview.py
    assert {name: options for name, options in unused.items() if options} == {}


LIMITS = {
    "board create --decimals": DECIMALS_MAX,
    "board change --decimals": DECIMALS_MAX,
    "top --count": LIMIT_MAX,
    "around --above": AROUND_MAX,
    "around --below": AROUND_MAX,
    "find --count": FOUND_MAX,
    "submissions --count": LIMIT_MAX,
    "activity --count": LIMIT_MAX,
    "distribution --buckets": BUCKETS_MAX,
    "friend top --count": LIMIT_MAX,
    "moderate list --count": LIMIT_MAX,
    "watch --count": TOP_MAX,
    "webhook deliveries --count": LISTED_MAX,
    "audit show --count": ACTS_MAX,
}


def test_limits_in_the_help_are_those_that_hold() -> None:
    told = {
        f"{name} {option.opts[0]}": int(found[1])
        for name, command in COMMANDS.items()
        for option in command.params
        if (found := re.search(r"at most (\d+)", getattr(option, "help", None) or ""))
    }
    assert told == LIMITS


def test_what_cannot_be_done_over_a_service_does_not_offer_it() -> None:
    database = {"--db", "--json"}
    itself = {name for name in COMMANDS if target_of(name) == database}
    assert itself >= {"verify", "rebuild", "restore"}
    others = COMMANDS.keys() - itself - WITHOUT_A_TARGET
    assert {name for name in others if target_of(name) != ONCE} == set()
    assert set(Database.__dataclass_fields__) < set(Target.__dataclass_fields__)


@pytest.mark.parametrize("name", ["verify", "rebuild"])
def test_a_served_file_says_what_to_do(cli: Cli, service: Any, name: str) -> None:
    result = cli(name, "--db", str(Path(service.folder.name) / "toprung.db"))
    assert (result.code, result.out) == (1, "")
    assert result.err.endswith(f"which serves it at {service.url}; stop that process first\n")
