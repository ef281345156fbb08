"""The whole command line: every group, in the order in which help lists them."""

from __future__ import annotations

import typer

from toprung.cli import (
    archives,
    audit,
    background,
    boards,
    demo,
    doctor,
    exporting,
    history,
    importing,
    keys,
    migrate,
    moderation,
    names,
    overview,
    periods,
    players,
    review,
    runs,
    scores,
    serve,
    standings,
    upkeep,
    version,
    watching,
    webhooks,
)
from toprung.cli.options import CommandGroup

_GROUPS = (
    *(serve, demo, boards, scores, runs, standings, overview, history, watching),
    *(periods, archives, players, names, moderation, review),
    *(importing, exporting, keys, webhooks, audit, background, upkeep, migrate, doctor, version),
)

app = typer.Typer(
    cls=CommandGroup,
    help="Real-time leaderboards.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help and errors are plain text, and start-up does not load rich
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _group in _GROUPS:
    _group.add_to(app)
