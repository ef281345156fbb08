"""`toprung doctor`: whether a file, a cluster or a service can work, and what to do if not."""

from __future__ import annotations

import typer

from toprung.cli.options import Target, command
from toprung.cli.outcome import FAILED
from toprung.cli.show import print_json, say
from toprung.cli.target import database, service_key, service_url
from toprung.config import cluster_settings, is_cluster_target


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app)(doctor)


def doctor(target: Target) -> None:
    """Check a file, a cluster or a service, and suggest fixes."""
    url = service_url(target)
    path = database(target)
    if url is not None:
        from toprung.cli.doctor_service import examine_service

        checks = examine_service(url, service_key(target))
    elif is_cluster_target(path):
        import asyncio

        from toprung.doctor import examine

        checks = asyncio.run(examine(cluster_settings(path)))
    else:
        from toprung.cli.doctor_file import examine_file

        checks = examine_file(path)
    if target.json:
        print_json([check._asdict() for check in checks])
    else:
        for check in checks:
            say(f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.line}")
    if not all(check.passed for check in checks):
        raise typer.Exit(FAILED)
