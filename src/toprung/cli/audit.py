"""`toprung audit`: who administered; the log's key and checkpoint; exporting and verifying it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Final

import typer

from toprung.blocking import Audit
from toprung.cli.options import CommandGroup, Count, Cursor, Target, command
from toprung.cli.outcome import failed
from toprung.cli.show import note, print_found, print_json, say
from toprung.cli.target import opened
from toprung.domain.trust.checking import SEPARATOR, checked
from toprung.domain.trust.notes import NOTE_BYTES_MAX, Checkpoint, Verifier, parse_verifier
from toprung.errors import Invalid
from toprung.files import create

STDOUT: Final = "-"
Out = Annotated[
    str, typer.Argument(metavar="FILE", help="a new file; - is stdout", show_default="stdout")
]
LINE_MAX: Final = 1024 * 1024


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    audit = typer.Typer(
        cls=CommandGroup,
        name="audit",
        help="See who administered, and prove what was recorded.",
        no_args_is_help=True,
    )
    command(audit)(show)
    command(audit)(key)
    command(audit)(checkpoint)
    command(audit)(proof)
    command(audit)(export)
    command(audit)(verify)
    app.add_typer(audit)


def show(
    target: Target,
    actor: Annotated[
        str | None,
        typer.Option(
            metavar="ACTOR", help="cli, library, local, key or key:ID", show_default="all"
        ),
    ] = None,
    on: Annotated[
        str | None, typer.Option(metavar="BOARD", help="only this board", show_default="all")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="none before it", show_default="all")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="only before it", show_default="all")
    ] = None,
    n: Count = 20,
    cursor: Cursor = None,
) -> None:
    """List who did what, when and why, newest first."""
    with opened(target) as boards:
        page = boards.audit.acts(actor, on, since, until, n, cursor)
    titles = "position> at act actor actor_id board player subject reason"
    if not print_found(page, page.acts, titles, as_json=target.json):
        note("there are no such acts")
    if page.next is not None and not target.json:
        note(f"there are older ones: --cursor {page.next}")


def key(target: Target, file: Out = STDOUT) -> None:
    """Print the public key of the log, or write it to a file."""
    with opened(target) as boards:
        found = boards.audit.key()
    if target.json:
        print_json(found)
    else:
        _put(file, f"{found.key}\n")


def checkpoint(target: Target, file: Out = STDOUT) -> None:
    """Print a signed checkpoint of the log, or write it to a file."""
    with opened(target) as boards:
        found = boards.audit.checkpoint()
    if target.json:
        print_json(found)
    else:
        _put(file, found.note)


def _put(file: str, text: str) -> None:
    """Write a text to a new file, or to stdout."""
    if file == STDOUT:
        print(text, end="")
        return
    with _created(file) as out:
        out.write(text.encode())


@contextmanager
def _created(file: str) -> Iterator[IO[bytes]]:
    try:
        out = create(file)
    except FileExistsError:
        raise failed(f"{file} exists already") from None
    with out:
        yield out


def proof(
    target: Target,
    submission: Annotated[int, typer.Argument(metavar="ID", help="the submission's id")],
) -> None:
    """Print the proof that a submission is in the log, as JSON."""
    with opened(target) as boards:
        print_json(boards.audit.proof(submission))


def export(
    target: Target,
    file: Annotated[str, typer.Argument(metavar="FILE", help="a new file; - is stdout")],
) -> None:
    """Write a checkpoint and all its leaves to a file."""
    with opened(target) as boards:
        found = boards.audit.checkpoint()
        if file == STDOUT:
            _write(sys.stdout.buffer, boards.audit, found)
            return
        with _created(file) as out:
            _write(out, boards.audit, found)
    if target.json:
        print_json({"leaves": found.size})
    else:
        say(f"{found.size} leaves")


def _write(out: IO[bytes], audit: Audit, checkpoint: Checkpoint) -> None:
    """Leaves in pages, as many as the checkpoint is about."""
    out.write(f"{checkpoint.note}{SEPARATOR}\n".encode())
    done = 0
    while done < checkpoint.size:
        leaves = audit.leaves(done, min(1000, checkpoint.size - done)).leaves
        if not leaves:
            raise failed(f"the log ends after {done:,} of {checkpoint.size:,} leaves")
        out.write("".join(f"{leaf}\n" for leaf in leaves).encode())
        done += len(leaves)


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="an export", allow_dash=False)],
    public_key: Annotated[
        str, typer.Option(metavar="KEY", help="as 'audit key' prints it, or a file with it")
    ],
    kept: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="a checkpoint that was kept", show_default="none"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Verify an export with nothing but the public key. Exits with 1 if anything is wrong."""
    from toprung.journals.log_key import checks

    try:
        verifier = _verifier(public_key)
        note = None if kept is None else kept.read_text("utf-8")[:NOTE_BYTES_MAX]
        with file.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            some = iter(lambda: lines.readline(LINE_MAX), "")  # whatever the file is
            found = checked(some, verifier, checks, note)
    except (OSError, UnicodeDecodeError) as error:
        raise failed(f"it cannot be read: {error}") from None
    if as_json:
        print_json({"leaves": found.leaves, "faults": list(found.faults)})
    else:
        for fault in found.faults:
            say(f"WRONG: {fault}")
        if not found.faults:
            say(f"{found.leaves} leaves are as they were signed")
    if found.faults:
        raise typer.Exit(1)


def _verifier(said: str) -> Verifier:
    """The key that is meant: itself, or what a file holds."""
    try:
        return parse_verifier(said)
    except Invalid:
        path = Path(said)
        if not path.is_file():
            raise
        return parse_verifier(path.read_text("utf-8", "replace")[:1000])
