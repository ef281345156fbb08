"""Boards: their rules, and what can be read of them."""

from __future__ import annotations

from toprung.contract import ArchivesAnswer, BoardAnswer, BoardsAnswer, PeriodsAnswer, ScopesAnswer
from toprung.domain.standing import ArchiveCheck, Distribution, PeriodAmendment, PeriodEnding
from toprung.operations.operation import Subject
from toprung.operations.requests import (
    AmendingQuery,
    AmendmentBody,
    BoardBody,
    DistributionQuery,
    EmptyBody,
    EndingQuery,
    Numbers,
    PageQuery,
    ScopesQuery,
    WindowQuery,
)

operations = Subject("boards")

operations.get(
    "list_boards",
    "/v1/boards",
    "read",
    "List boards, sorted by id; `cursor` is the `next` of the previous page.",
    description="The entity tag stays the same until a board is created, changed or deleted.",
    query=PageQuery,
    answer=BoardsAnswer,
    headers=("If-None-Match",),
    checks_boards=True,
)
operations.put(
    "put_board",
    "/v1/boards/{board}",
    "admin",
    "Create a board (201) or replace its rules (200); omitted rules take their defaults.",
    description="With `If-None-Match: *` it only creates; an existing board is not changed.",
    query=Numbers,
    body=BoardBody,
    answer=BoardAnswer,
    also=(201,),
    headers=("If-None-Match",),
    grows=True,
)
operations.patch(
    "patch_board",
    "/v1/boards/{board}",
    "admin",
    "Change some rules of a board; null resets a rule to its default.",
    query=Numbers,
    body=BoardBody,
    answer=BoardAnswer,
    grows=True,
)
operations.get(
    "get_board",
    "/v1/boards/{board}",
    "read",
    "Get a board's rules and the current period of each window.",
    query=Numbers,
    answer=BoardAnswer,
    public=True,
)
operations.delete(
    "delete_board",
    "/v1/boards/{board}",
    "admin",
    "Delete a board and everything on it.",
    runs="boards.delete",
)
operations.get(
    "list_periods",
    "/v1/boards/{board}/periods",
    "read",
    "List the available periods of a window, newest first.",
    query=WindowQuery,
    answer=PeriodsAnswer,
    public=True,
)
operations.post(
    "close_period",
    "/v1/boards/{board}/periods/{window}/{period}/close",
    "admin",
    "Close a period that has ended, without waiting for its grace: no late score counts there.",
    runs="board.close_period",
    query=EndingQuery,
    body=EmptyBody,
    answer=PeriodEnding,
    also=(409,),
    is_repeatable=True,
)
operations.post(
    "settle_period",
    "/v1/boards/{board}/periods/{window}/{period}/settle",
    "admin",
    "Settle a closed period, without waiting for its review time: it changes no more.",
    runs="board.settle_period",
    query=EndingQuery,
    body=EmptyBody,
    answer=PeriodEnding,
    also=(409,),
    is_repeatable=True,
)
operations.post(
    "amend_period",
    "/v1/boards/{board}/periods/{window}/{period}/amend",
    "admin",
    "Change a settled period: take players out of it, or correct their scores there.",
    description="The answer says who moves, and the new digest; `dry_run` records nothing.",
    query=AmendingQuery,
    body=AmendmentBody,
    answer=PeriodAmendment,
    also=(409,),
)
operations.get(
    "list_archives",
    "/v1/boards/{board}/archives",
    "read",
    "List the archives of a board's settled periods, newest first.",
    runs="board.archives",
    query=WindowQuery,
    answer=ArchivesAnswer,
)
operations.post(
    "verify_archive",
    "/v1/boards/{board}/periods/{window}/{period}/verify",
    "admin",
    "Read the archive of a period whole, and compare it with what was recorded.",
    runs="board.verify_archive",
    body=EmptyBody,
    answer=ArchiveCheck,
    is_repeatable=True,
)
operations.get(
    "list_scopes",
    "/v1/boards/{board}/scopes",
    "read",
    "List the scopes that have players in a period, with their sizes, by name.",
    runs="board.scopes",
    query=ScopesQuery,
    answer=ScopesAnswer,
    public=True,
)
operations.get(
    "get_distribution",
    "/v1/boards/{board}/distribution",
    "read",
    "Get the distribution of a ladder's scores, in buckets of equal width, lowest first.",
    runs="board.distribution",
    query=DistributionQuery,
    answer=Distribution,
    public=True,
)
