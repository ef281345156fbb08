"""`toprung serve` as a user and a service manager see it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from importlib import metadata

import pytest

from tests.conftest import StartService


def ask(url: str) -> object:
    with urllib.request.urlopen(url, timeout=10) as response:
        assert response.status == 200
        assert response.headers["content-type"] == "application/json"
        return json.load(response)


def toprung(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "toprung", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def test_answers_and_says_what_it_is(start_service: StartService) -> None:
    service = start_service()
    assert ask(service.url + "/healthz") == {"status": "ok"}
    assert ask(service.url + "/") == {
        "name": "toprung",
        "version": metadata.version("toprung"),
        "native_core": "toprung._native",
    }
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


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_only_loopback_hosts_are_served(host: str) -> None:
    result = toprung("serve", "--host", host, "--port", "0")
    assert result.returncode == 1
    assert result.stderr.startswith(f"toprung: host: {host} is not a loopback address; ")
    assert result.stderr.count("\n") == 1


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
