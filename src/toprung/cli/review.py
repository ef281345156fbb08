"""`toprung review`: submissions that wait for a verdict."""

from __future__ import annotations

from typing import Annotated

import typer

from toprung.cli.options import CommandGroup, Target, choice, command, whole
from toprung.cli.show import note, print_found, print_json, say
from toprung.cli.target import opened
from toprung.service.reviewing import LISTED_ORDERS

Order = Annotated[str, choice(LISTED_ORDERS, "what comes first")]
OnlyBoard = Annotated[
    str | None, typer.Option("--board", metavar="BOARD", help="only submissions of this board")
]
SubmissionId = Annotated[
    int, typer.Argument(metavar="SUBMISSION", parser=whole, help="a submission's id")
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="why; it is kept for good")]
By = Annotated[str, typer.Option(metavar="NAME", help="who decides")]
Token = Annotated[
    str | None,
    typer.Option("--claim", metavar="TOKEN", help="the claim's token, if it is claimed"),
]

_TITLES = "submission> board player score> impact> provisional_rank> reasons claimed_by"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    review = typer.Typer(
        cls=CommandGroup,
        name="review",
        help="Decide submissions that wait for a verdict.",
        no_args_is_help=True,
    )
    command(review, name="list")(list_review)
    command(review)(claim)
    command(review)(accept)
    command(review)(reject)
    app.add_typer(review)


def list_review(
    target: Target,
    order: Order = "impact",
    board: OnlyBoard = None,
    n: Annotated[
        int, typer.Option("--count", "-n", metavar="N", parser=whole, help="how many at most")
    ] = 50,
) -> None:
    """List submissions that wait for a verdict."""
    with opened(target) as boards:
        found = boards.review(order, board, n)
    if not print_found(found, found.submissions, _TITLES, as_json=target.json):
        note("nothing waits for a verdict")
    elif found.next is not None and not target.json:
        note("there are more")


def claim(
    target: Target,
    by: Annotated[str, typer.Argument(metavar="NAME", help="who decides it")],
    seconds: Annotated[
        int, typer.Option(metavar="SECONDS", parser=whole, help="how long the claim lasts")
    ] = 300,
    order: Order = "impact",
    board: OnlyBoard = None,
) -> None:
    """Claim a submission, so that nobody else decides it for a while."""
    with opened(target) as boards:
        found = boards.claim_review(by, seconds, order, board)
    if target.json:
        print_json(found)
    elif found.submission is None:
        note("nothing waits that nobody has claimed")
    else:
        print_found(found, [found.submission], _TITLES, as_json=False)
        say(f"claim: {found.claim}")


def accept(
    target: Target,
    submission: SubmissionId,
    reason: Reason = "",
    by: By = "",
    claim_token: Token = None,
) -> None:
    """Accept a submission: it counts as if it had never waited."""
    _decide(target, submission, "accept", (reason, by, claim_token))


def reject(
    target: Target,
    submission: SubmissionId,
    reason: Reason = "",
    by: By = "",
    claim_token: Token = None,
) -> None:
    """Reject a submission: it never counts."""
    _decide(target, submission, "reject", (reason, by, claim_token))


def _decide(
    target: Target, submission: int, verdict: str, told: tuple[str, str, str | None]
) -> None:
    reason, by, token = told
    with opened(target) as boards:
        found = boards.decide(submission, verdict, reason=reason, by=by, claim=token)
    if target.json:
        print_json(found)
        return
    effect = "" if found.verdict == "rejected" or found.changed else "; it changes nothing"
    say(f"{found.verdict} submission {submission} of {found.player} on {found.board}{effect}")
    if found.skipped:
        why = (f"{window} ({reason})" for window, reason in found.skipped.items())
        note(f"does not count in: {', '.join(why)}")
