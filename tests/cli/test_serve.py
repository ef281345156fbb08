"""`toprung serve` as a user and a service manager see it."""

from __future__ import annotations

import json
import signal
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.cli.program import done, toprung
from tests.conftest import StartService
from tests.http.issuer import AUDIENCE, SECRET, Issuer
from toprung.cli.serve import ServeOptions, _settings
from toprung.errors import Invalid, MissingExtra
from toprung.http.settings import DEFAULT_ADDRESS_RATE, DEFAULT_KEY_RATE, Rate


def ask(url: str) -> object:
    with urllib.request.urlopen(url, timeout=10) as response:
        assert response.status == 200
        assert response.headers["content-type"] == "application/json"
        return json.load(response)


def test_answers_and_says_what_it_is(start_service: StartService) -> None:
    service = start_service()
    assert ask(service.url + "/healthz") == {"status": "ok"}
    with urllib.request.urlopen(service.url, timeout=10) as page:
        assert b"<title>Toprung</title>" in page.read()
    with pytest.raises(urllib.error.HTTPError, match="404") as missing:
        ask(service.url + "/nowhere")
    missing.value.close()


def test_sigterm_is_a_clean_stop_that_frees_the_port(start_service: StartService) -> None:
    service = start_service()
    ask(service.url + "/healthz")
    assert service.stop() == (0, "")
    with socket.create_server(("127.0.0.1", service.port)):
        pass  # nobody else listens there


def test_ctrl_c_is_a_clean_stop(start_service: StartService) -> None:
    service = start_service()
    ask(service.url + "/healthz")
    service.process.send_signal(signal.SIGINT)
    assert service.process.wait(timeout=20) == 0
    assert service.process.communicate() == ("", "")


def test_a_port_in_use_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = toprung("serve", "--port", str(port))
    assert result.returncode == 1
    assert result.stdout == ""
    assert (
        result.stderr == f"toprung: port {port} is already in use; choose another one with --port\n"
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_the_world_is_not_served_without_keys(host: str) -> None:
    result = toprung("serve", "--host", host, "--port", "0", "--db", "memory:")
    assert result.returncode == 1
    assert result.stderr == (
        f"toprung: host: {host} needs access keys, and memory: has none; make one with"
        " toprung keys create --db memory:\n"
    )


@pytest.mark.parametrize("host", ["example.org", "", "127.0.0.1:80"])
def test_a_host_that_is_no_address_is_refused(host: str) -> None:
    result = toprung("serve", "--host", host, "--port", "0", "--db", "memory:")
    assert result.returncode == 1
    assert result.stderr == f"toprung: host: {host!r} is not an IP address, nor localhost\n"


def test_behind_a_proxy_the_log_names_the_caller(
    tmp_path: Path, start_service: StartService
) -> None:
    database = str(tmp_path / "mine.db")
    done("keys", "create", "--db", database)
    service = start_service(
        *("--db", database, "--require-keys", "--proxy", "127.0.0.1", "--log-level", "info")
    )
    headers = {"X-Forwarded-For": "203.0.113.66, 192.0.2.1"}
    request = urllib.request.Request(service.url + "/healthz", headers=headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        assert response.status == 200
    code, log = service.stop()
    assert code == 0
    assert [json.loads(line).get("address") for line in log.splitlines() if "/healthz" in line] == [
        "192.0.2.1"
    ]


def test_a_proxy_that_is_no_address_is_refused_before_anything_happens(tmp_path: Path) -> None:
    place = ("serve", "--port", "0", "--db", str(tmp_path / "new.db"))
    result = toprung(*place, "--require-keys", "--proxy", "lb.local")
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith(
        "toprung: proxy: 'lb.local' is not an IP address, nor a network"
    )
    keyless = toprung(*place, "--proxy", "127.0.0.1")
    assert (keyless.returncode, keyless.stdout) == (1, "")
    assert keyless.stderr == ("toprung: proxy: --proxy requires keys; add --require-keys\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "number"),
    [
        (ServeOptions(), None),
        (ServeOptions(require_keys=True), None),
        (ServeOptions(require_keys=True, proxy=["127.0.0.1"]), 1000),
        (ServeOptions(host="::"), 1000),
        (ServeOptions(host="::", connections_per_address="50000"), 50_000),
        (ServeOptions(host="::", connections_per_address="off"), None),
        (ServeOptions(connections_per_address="5"), 5),
    ],
    ids=str,
)
def test_connections_are_counted_where_others_may_ask(
    options: ServeOptions, number: int | None
) -> None:
    assert _settings(options).connections_per_address_max == number


def statuses(url: str, count: int, key: str | None = None) -> list[int]:
    """The answers to so many requests."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    found = []
    for _ in range(count):
        try:
            request = urllib.request.Request(url, headers=headers)
            with urllib.request.urlopen(request, timeout=10) as response:
                found.append(response.status)
        except urllib.error.HTTPError as refused:
            found.append(refused.code)
            refused.close()
    return found


def test_the_rates_of_keys_and_addresses_are_options(
    tmp_path: Path, start_service: StartService
) -> None:
    database = str(tmp_path / "mine.db")
    key = done("keys", "create", "--db", database).strip()
    rates = ("--key-rate", "0.01/3", "--address-rate", "0.01/2")
    boards = start_service("--db", database, "--require-keys", *rates).url + "/v1/boards"
    assert statuses(boards, 4, key) == [200, 200, 200, 429]
    assert statuses(boards, 3) == [401, 401, 429]


@pytest.mark.parametrize(
    ("options", "key_rate", "address_rate"),
    [
        (ServeOptions(), None, None),
        (ServeOptions(key_rate="off"), None, None),
        (ServeOptions(require_keys=True), None, None),
        (ServeOptions(require_keys=True, key_rate="5/10"), Rate(5, 10), None),
        (ServeOptions(require_keys=True, address_rate="5"), None, Rate(5, 5)),
        (
            ServeOptions(require_keys=True, proxy=["127.0.0.1"]),
            DEFAULT_KEY_RATE,
            DEFAULT_ADDRESS_RATE,
        ),
        (ServeOptions(host="::"), DEFAULT_KEY_RATE, DEFAULT_ADDRESS_RATE),
        (ServeOptions(host="::", key_rate="off"), None, DEFAULT_ADDRESS_RATE),
        (ServeOptions(host="::", address_rate="1/2"), DEFAULT_KEY_RATE, Rate(1, 2)),
    ],
    ids=str,
)
def test_limits_hold_where_others_may_ask(
    options: ServeOptions, key_rate: Rate | None, address_rate: Rate | None
) -> None:
    settings = _settings(options)
    assert (settings.key_rate, settings.address_rate) == (key_rate, address_rate)


@pytest.mark.parametrize(
    ("options", "connections", "subscriptions"),
    [
        (ServeOptions(), 4000, 20_000),
        (ServeOptions(require_keys=True), 4000, 20_000),
        (ServeOptions(require_keys=True, proxy=["127.0.0.1"]), 1000, 4000),
        (ServeOptions(host="::"), 1000, 4000),
        (ServeOptions(host="::", live_connections=7), 7, 4000),
        (ServeOptions(live_subscriptions=9), 4000, 9),
    ],
    ids=str,
)
def test_live_limits_hold_everywhere(
    options: ServeOptions, connections: int, subscriptions: int
) -> None:
    settings = _settings(options)
    assert settings.sockets_per_caller_max == connections
    assert settings.subscriptions_per_caller_max == subscriptions


@pytest.mark.parametrize("text", ["0", "-1", "many", "", "1000001", "9" * 5000, "²"])
def test_a_count_of_connections_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match=r"^connections-per-address: .* 1 to 1,000,000, or off$"):
        _settings(ServeOptions(connections_per_address=text))


@pytest.mark.parametrize("option", ["--key-rate", "--address-rate"])
def test_a_rate_that_cannot_hold_is_refused_before_anything_happens(
    option: str, tmp_path: Path
) -> None:
    place = ("serve", "--port", "0", "--db", str(tmp_path / "new.db"))
    refused = toprung(*place, "--require-keys", option, "many")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"toprung: {option[2:]}: 'many' is not a rate; write ")
    uncounted = toprung(*place, option, "5/10")
    assert uncounted.returncode == 1
    assert uncounted.stderr == (
        f"toprung: {option[2:]}: rate limits require keys; add --require-keys\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_says_where_the_page_the_reference_and_the_data_are(start_service: StartService) -> None:
    service = start_service("--db", "mine.db")
    assert service.greeting.splitlines()[1:] == [f"reference: {service.url}/docs", "data: mine.db"]
    assert (Path(service.folder.name) / "mine.db").exists()


def test_a_database_that_is_served_names_its_address(start_service: StartService) -> None:
    service = start_service("--db", "mine.db")
    database = Path(service.folder.name) / "mine.db"
    result = toprung("keys", "list", "--db", str(database))
    assert result.returncode == 1
    assert f"use --url {service.url}" in result.stderr


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.2", "::1"])
def test_every_loopback_host_is_served(host: str, start_service: StartService) -> None:
    if host == "::1" and not has_ipv6():
        pytest.skip("this machine has no IPv6 loopback")
    service = start_service("--host", host)
    assert ask(service.url + "/healthz") == {"status": "ok"}


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_an_impossible_port_is_refused(port: str) -> None:
    result = toprung("serve", f"--port={port}")
    assert result.returncode == 2
    assert "--port" in result.stderr


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


# --- players' tokens ------------------------------------------------------------------------------


def test_tokens_are_verified_with_the_keys_of_a_file(
    start_service: StartService, tmp_path: Path
) -> None:
    issuer, database = Issuer(), str(tmp_path / "mine.db")
    (tmp_path / "rsa.pem").write_bytes(issuer.pem())
    done("board", "create", "arena", "--trust", "player", "--db", database)
    options = ("--token-keys", str(tmp_path / "rsa.pem"), "--token-audience", AUDIENCE)
    service = start_service("--db", database, "--require-keys", *options)  # there are no keys

    def submit(token: str) -> int:
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        body, url = b'{"player": "alice", "score": 5}', f"{service.url}/v1/boards/arena/scores"
        request = urllib.request.Request(url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    assert submit(issuer.token("alice", "RS256")) == 200
    assert submit(issuer.token("bob", "RS256")) == 403
    assert submit(issuer.token("alice")) == 401
    assert service.stop() == (0, "")


def test_options_come_before_the_environment_and_a_clusters_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(
        '[cluster]\njournal_url = "postgresql://db/x"\nindex_url = "redis://cache"\n[tokens]\n'
        'keys = ["https://id.example/keys"]\naudience = "file"\nissuer = "file"\nlifetime = 60\n'
    )
    monkeypatch.setenv("TOPRUNG_TOKEN_SECRET", SECRET)
    found = _settings(ServeOptions(db=str(path), token_audience="option", token_leeway=5)).tokens
    assert found is not None
    assert (found.places, found.secret) == (("https://id.example/keys",), SECRET)
    rules = found.rules
    assert (rules.audience, rules.issuer, rules.lifetime_seconds) == ("option", "file", 60)
    assert rules.leeway_seconds == 5
    found = _settings(ServeOptions(token_keys=["a", "https://other.example/"])).tokens
    assert found is not None
    assert (found.places, found.rules.audience) == (("a", "https://other.example/"), None)
    monkeypatch.delenv("TOPRUNG_TOKEN_SECRET")
    assert _settings(ServeOptions()).tokens is None
    path.write_text("[tokens]\nsecret = 'x'\n")
    with pytest.raises(Invalid, match="secret"):
        _settings(ServeOptions(db=str(path)))


def test_what_tokens_need_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPRUNG_TOKEN_SECRET", SECRET)
    monkeypatch.setattr("toprung.http.tokens.keys.find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"toprung\[tokens\]"):
        _settings(ServeOptions())


def test_wrong_token_keys_are_one_clear_line(tmp_path: Path) -> None:
    result = toprung("serve", "--port", "0", "--db", "memory:", "--token-keys", "nowhere.pem")
    assert result.returncode == 1
    assert result.stderr.startswith("toprung: token-keys: cannot read 'nowhere.pem'")
    (tmp_path / "short").write_text("hunter2")
    path = str(tmp_path / "short")
    result = toprung("serve", "--port", "0", "--db", "memory:", "--token-keys", path)
    assert "at least 32 bytes" in result.stderr
    assert "hunter2" not in result.stderr
