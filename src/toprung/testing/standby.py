"""A standby of a private PostgreSQL server: it streams, can be cut off, and takes over."""

from __future__ import annotations

from toprung.testing.servers import PostgresServer, until


class PostgresStandby(PostgresServer):
    """A copy of another server that follows it until it is promoted."""

    def __init__(self, primary: PostgresServer, *, is_synchronous: bool = False) -> None:
        """If it is synchronous, a commit of the primary waits until this one has it on disk."""
        self._primary = primary
        # By default it may take five seconds to notice that it is promoted.
        super().__init__(options=("-c", "wal_retrieve_retry_interval=100ms"))
        until(self.is_streaming, "streaming")
        if is_synchronous:
            primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
            primary.ask("SELECT pg_reload_conf()")
            until(
                lambda: primary.ask("SELECT sync_state FROM pg_stat_replication") == "sync",
                "synchronous replication",
            )

    def _make_data(self) -> None:
        source = f"host=127.0.0.1 port={self._primary.port} user=toprung"
        self._run("pg_basebackup", "-d", source, "-R", "-X", "stream", "-c", "fast", "--no-sync")

    def is_streaming(self) -> bool:
        """Whether it is connected to its primary."""
        return self.ask("SELECT status FROM pg_stat_wal_receiver") == "streaming"

    def has_all(self) -> bool:
        """Whether it shows everything that the primary has written."""
        written = self._primary.ask("SELECT pg_current_wal_lsn()")
        return self.ask(f"SELECT pg_last_wal_replay_lsn() >= '{written}'") == "t"

    def cut_off(self) -> None:
        """Receive what the primary has written so far, and nothing more."""
        until(self.has_all, "catching up")
        self.ask("ALTER SYSTEM SET primary_conninfo = ''")
        self.ask("SELECT pg_reload_conf()")
        until(lambda: self.ask("SELECT count(*) FROM pg_stat_wal_receiver") == "0", "the cut")

    def promote(self) -> None:
        """Take over; returns when it accepts writes."""
        self._run("pg_ctl", "promote", "-w")
