"""Private PostgreSQL and Redis servers for tests and benchmarks.

Each listens on a port of its own on 127.0.0.1, keeps its data in a temporary directory, and is
stopped by its process id. PostgreSQL refuses to run as root, so root starts it as user postgres.

Where `TOPRUNG_POSTGRES_DATA` names a folder, an empty database cluster is made in it once, and each
server begins with a copy: that takes a tenth of the time.
"""

from __future__ import annotations

import fcntl
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

START_SECONDS_MAX = 30.0
STOP_SECONDS_MAX = 15.0
SLOTS = 16384
PORTS = range(12_000, 22_000)
CLUSTER_BUS = 10_000
INITDB = ("initdb", "-A", "trust", "-U", "toprung", "-E", "UTF8", "--locale=C", "-N")


class ServerError(Exception):
    """A server did not start; its output says why."""


def free_port() -> int:
    """A port that nobody listens on and that no other process gets from here, either.

    The UDP port of the same number stays bound until this process ends: that reserves it. Ports are
    taken from below those that outgoing connections get, so a server can also come back to its own.
    A Cluster node needs the port 10,000 above it, too.
    """
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        with ExitStack() as held:
            reservation = held.enter_context(socket.socket(type=socket.SOCK_DGRAM))
            try:
                reservation.bind(("127.0.0.1", port))
                for number in (port, port + CLUSTER_BUS):
                    held.enter_context(socket.socket()).bind(("127.0.0.1", number))
            except OSError:
                continue
            reservation.detach()  # it is closed with the process
            return port
    raise ServerError(f"no port from {PORTS[0]} to {PORTS[-1]} is free")


def until(condition: Callable[[], bool], what: str, seconds: float = START_SECONDS_MAX) -> None:
    """Look again and again until the condition holds; ServerError after the deadline."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise ServerError(f"{what} did not happen within {seconds:.0f} s")
        time.sleep(0.02)


def postgres_programs() -> Path | None:
    """Where initdb and postgres are: on the PATH, or where Debian keeps them."""
    found = shutil.which("postgres")
    if found is not None:
        folder = Path(found).resolve().parent
        if all((folder / name).exists() for name in ("initdb", "pg_isready")):
            return folder
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return versions[-1].parent if versions else None


def redis_program() -> str | None:
    """redis-server, or valkey-server where there is no other."""
    return shutil.which("redis-server") or valkey_program()


def valkey_program() -> str | None:
    """valkey-server, where the machine offers it."""
    return shutil.which("valkey-server")


class PostgresServer:
    """A PostgreSQL cluster of databases."""

    def __init__(self, *, fsync: bool = False, options: tuple[str, ...] = ()) -> None:
        """`options` come last on its command line, so they replace the settings made here."""
        programs = postgres_programs()
        if programs is None:
            raise ServerError("PostgreSQL is not installed")
        self._programs = programs
        self._folder = Path(tempfile.mkdtemp(prefix="toprung-pg-"))
        self._as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self._settings = (
            "-c", f"fsync={'on' if fsync else 'off'}", "-c", "listen_addresses=127.0.0.1",
            "-c", "unix_socket_directories=", "-c", "max_connections=200",
            "-c", "autovacuum=off", *options,
        )  # fmt: skip
        if self._as_user:
            shutil.chown(self._folder, "postgres")
        self._data = self._folder / "data"
        self._make_data()
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def _make_data(self) -> None:
        shared = os.environ.get("TOPRUNG_POSTGRES_DATA")
        if shared is None:
            self._run(*INITDB)
            return
        made = Path(shared) / "data"
        with (Path(shared) / "lock").open("w") as turn:  # several processes share it
            fcntl.flock(turn, fcntl.LOCK_EX)
            if not made.exists():
                self._run(*INITDB)
                shutil.copytree(self._data, made.with_name("begun"), ignore=_log_segments)
                made.with_name("begun").rename(made)
                return
        shutil.copytree(made, self._data)
        with (self._data / "global/pg_control").open("r+b") as file:
            file.write(secrets.token_bytes(7) + b"\0")  # the identity: no two have the same
        if self._as_user:
            for path in (self._data, *self._data.rglob("*")):
                shutil.chown(path, "postgres")
        self._run("pg_resetwal", "-f")  # a new log of this identity

    @property
    def url(self) -> str:
        """Where its database is."""
        return f"postgresql://toprung@127.0.0.1:{self.port}/postgres"

    @property
    def pid(self) -> int:
        """The process that all others of it descend from."""
        return int((self._data / "postmaster.pid").read_text().split("\n", 1)[0])

    def start(self) -> None:
        """Start it on its data, and wait until it accepts connections."""
        log = (self._folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(  # noqa: S603
                [*self._as_user, str(self._programs / "postgres"), "-D", str(self._data),
                 "-p", str(self.port), *self._settings],
                stdout=log, stderr=log, cwd=self._folder,
            )  # fmt: skip
        until(self._accepts, "the start of PostgreSQL")

    def _accepts(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise ServerError((self._folder / "log").read_text())
        command = [
            str(self._programs / "pg_isready"),
            "-q",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
        ]
        return subprocess.run(command, check=False).returncode == 0  # noqa: S603

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT cuts connections off, SIGQUIT does not even write what is in memory."""
        if self._process is None:
            return
        pid = self.pid
        os.kill(pid, how)
        try:
            self._process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.kill(pid, signal.SIGQUIT)
            self._process.wait(STOP_SECONDS_MAX)
        self._process = None

    def kill(self) -> None:
        """End it at once with all its processes, as the loss of its machine would."""
        if self._process is None:
            return
        pid = int((self._data / "postmaster.pid").read_text().split("\n", 1)[0])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for each in (pid, *map(int, children)):  # it first, for it would start some anew
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self._process.wait(STOP_SECONDS_MAX)
        self._process = None

    def ask(self, statements: str) -> str:
        """The answer to one or more statements, as text."""
        options = ("-qAtX", "-v", "ON_ERROR_STOP=1", "-d", self.url)
        return self._client("psql", *options, given=statements).strip()

    def dump(self, schema: str) -> str:
        """A backup of a schema, as statements."""
        return self._client("pg_dump", "-n", schema, "-d", self.url)

    def _client(self, program: str, *arguments: str, given: str = "") -> str:
        command = [str(self._programs / program), *arguments]
        done = subprocess.run(  # noqa: S603
            command, input=given, capture_output=True, check=False, text=True
        )
        if done.returncode:
            raise ServerError(done.stderr)
        return done.stdout

    def close(self) -> None:
        """Stop it and remove its data."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as_user, str(self._programs / program), "-D", str(self._data), *arguments]
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, check=False, cwd=self._folder
        )
        if done.returncode:
            raise ServerError(done.stderr.decode())


class RedisServer:
    """One Redis (or Valkey) that writes nothing to disk."""

    def __init__(self, *options: str, program: str | None = None) -> None:
        """`program`: which of the servers, by default `redis_program`."""
        program = program or redis_program()
        if program is None:
            raise ServerError("Redis is not installed")
        self._program = program
        self._folder = tempfile.mkdtemp(prefix="toprung-redis-")
        self._options = options
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, empty, and wait until it answers."""
        self._process = subprocess.Popen(  # noqa: S603
            [self._program, "--port", str(self.port), "--dir", self._folder, "--bind", "127.0.0.1",
             "--save", "", "--appendonly", "no", "--daemonize", "no", *self._options],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        until(self._answers, "the start of Redis")

    def _answers(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise ServerError(f"Redis ended with code {self._process.returncode}")
        return self.ask("PING") == "PONG"

    def ask(self, *command: str) -> str:
        """The answer to a command, as text; empty when there is none."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                parts = b"".join(b"$%d\r\n%s\r\n" % (len(c.encode()), c.encode()) for c in command)
                connection.sendall(b"*%d\r\n%s" % (len(command), parts))
                return _answer(connection)
        except OSError:
            return ""

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Let it hang: connections stay open, nothing is answered."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        """End it and remove its directory."""
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


class RedisClusterServers:
    """Three primaries, with a replica each unless they are to do without."""

    PRIMARIES = 3

    def __init__(
        self, node_timeout_ms: int = 2000, *options: str, has_replicas: bool = True
    ) -> None:
        options += ("--cluster-enabled", "yes", "--cluster-node-timeout", str(node_timeout_ms),
                   "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0",
                   "--repl-diskless-sync", "yes")  # fmt: skip
        count = (1 + has_replicas) * self.PRIMARIES
        self.nodes = [RedisServer(*options) for _ in range(count)]
        first = self.nodes[0]
        share = SLOTS // self.PRIMARIES
        for number, node in enumerate(self.nodes[: self.PRIMARIES]):
            last = SLOTS - 1 if number == self.PRIMARIES - 1 else (number + 1) * share - 1
            node.ask("CLUSTER", "ADDSLOTSRANGE", str(number * share), str(last))
        for number, node in enumerate(self.nodes):
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
            node.ask("CLUSTER", "MEET", "127.0.0.1", str(first.port))
        until(self._is_met, "the meeting of the nodes")
        for primary, replica in zip(
            self.nodes[: self.PRIMARIES], self.nodes[self.PRIMARIES :], strict=has_replicas
        ):
            name = primary.ask("CLUSTER", "MYID")
            follow = partial(replica.ask, "CLUSTER", "REPLICATE", name)
            until(partial(_is_ok, follow), "the start of a replica")
        until(self.is_whole, "the start of the Cluster")

    @property
    def url(self) -> str:
        """Where it is."""
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port}"

    def is_whole(self) -> bool:
        """Whether every node sees all slots served, and every replica is connected."""
        return all(
            "cluster_state:ok" in node.ask("CLUSTER", "INFO") for node in self.nodes
        ) and all(
            "master_link_status:up" in node.ask("INFO", "replication")
            for node in self.nodes[self.PRIMARIES :]
        )

    def _is_met(self) -> bool:
        known = f"cluster_known_nodes:{len(self.nodes)}"
        return all(
            known in (info := node.ask("CLUSTER", "INFO")) and "cluster_state:ok" in info
            for node in self.nodes
        )

    def close(self) -> None:
        """End all nodes."""
        for node in self.nodes:
            node.close()


def _log_segments(folder: str, names: list[str]) -> list[str]:
    """The files of PostgreSQL's log, which are made anew."""
    return [name for name in names if Path(folder).name == "pg_wal" and len(name) == 24]


def _is_ok(ask: Callable[[], str]) -> bool:
    return ask() == "OK"


def _answer(connection: socket.socket) -> str:
    """One simple, bulk, integer or error reply."""
    received = b""
    while not received.endswith(b"\r\n"):
        received += _more(connection)
    line, _, rest = received.partition(b"\r\n")
    if line[:1] != b"$" or line == b"$-1":
        return line[1:].decode()
    length = int(line[1:])
    while len(rest) < length + 2:
        rest += _more(connection)
    return rest[:length].decode()


def _more(connection: socket.socket) -> bytes:
    received = connection.recv(65536)
    if not received:
        raise ConnectionResetError
    return received
