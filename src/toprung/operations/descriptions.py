"""What the members of requests and answers mean, in words and by an example.

A member's docstring says what it means in its struct. What means the same everywhere it occurs is
said once here, by its name.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec

from toprung.domain import access
from toprung.domain.board import TITLE_MAX
from toprung.domain.player import NAME_BYTES_MAX, PLAYER_ID_BYTES_MAX
from toprung.domain.submission import KEY_BYTES_MAX
from toprung.domain.webhooks import URL_MAX

_TIME: Final = "2026-11-15T12:30:00Z"


class Said(NamedTuple):
    """What is said of a member."""

    description: str
    example: Any = None
    length_max: int | None = None
    """Of text, in bytes of UTF-8, or of a list."""


@cache
def docstrings(kind: type[msgspec.Struct]) -> Mapping[str, str]:
    """The docstrings of a struct's members, also of those it inherits, by their names on the wire.

    >>> from toprung.domain.standing import Standing
    >>> docstrings(Standing)["total"]
    'The number of players on the ladder.'
    """
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if issubclass(each, msgspec.Struct) and each is not msgspec.Struct:
            found |= _own_docstrings(each)
    names = {field.name: field.encode_name for field in msgspec.structs.fields(kind)}
    return {names[name]: text for name, text in found.items() if name in names}


def _own_docstrings(kind: type) -> dict[str, str]:
    body = _classes(kind.__module__).get(kind.__name__)
    found: dict[str, str] = {}
    if body is None:
        return found
    for member, text in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(member, ast.AnnAssign)
            and isinstance(member.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        ):
            found[member.target.id] = " ".join(text.value.value.split())
    return found


@cache
def _classes(module: str) -> Mapping[str, ast.ClassDef]:
    """The classes of a module, by name; none where its source is not installed."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except OSError:
        return {}
    return {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}


def said_of(kind: type[msgspec.Struct], name: str) -> Said:
    """What is said of a member of a struct: first of all by the struct's own words."""
    own = docstrings(kind).get(name, "")
    known = MEMBERS.get(f"{kind.__name__}.{name}") or MEMBERS.get(name) or Said("")
    return known._replace(description=own or known.description)


MEMBERS: Final[Mapping[str, Said]] = {
    # --- boards and their ladders
    "board": Said("The board's id.", "blitz"),
    "id": Said("The board's id, which is the one in the URL.", "blitz"),
    "title": Said("What people call the board.", "Blitz", TITLE_MAX),
    "order": Said("Whether the highest (`desc`) or the lowest score (`asc`) is best.", "desc"),
    "policy": Said("Which submissions count: the best, the latest, or the sum of all.", "best"),
    "decimals": Said("How many decimals scores have.", 0),
    "BoardAnswer.subscore": Said(
        "Whether scores have a subscore, which decides between equal scores, and which is best.",
        "desc",
    ),
    "BoardBody.subscore": Said(
        "Whether scores have a subscore, which decides between equal scores, and which is best.",
        "desc",
    ),
    "tie_break": Said(
        "Who is first among equals: who was there first, last, or by player id.", "first"
    ),
    "ranking": Said(
        "How ranks are counted among equals: all different (`ordinal`), equal with gaps after them"
        " (`competition`), or equal without gaps (`dense`).",
        "competition",
    ),
    "windows": Said("How time is divided: names, or objects with further settings.", ["all-time"]),
    "default_window": Said("The default window of reads and of the web page.", "all-time"),
    "timezone": Said("The time zone in which days, weeks and months begin.", "UTC"),
    "BoardAnswer.scopes": Said("The attributes that have ladders, and `global`.", ["global"]),
    "BoardBody.scopes": Said("The attributes that have ladders, and `global`.", ["global"]),
    "public": Said("Whether anybody may read standings without a key.", True),
    "score_min": Said("The lowest score that is accepted.", 0),
    "score_max": Said("The highest score that is accepted.", 9999),
    "max_increase": Said("How much one submission may add to a player's entry.", 500),
    "trust": Said(
        "Who may submit scores: keys that allow `write` (`server`), or each player with a token"
        " as well (`player`), or with a token and a signed run (`signed`).",
        "player",
    ),
    "boards": Said("Boards, sorted by id."),
    "periods": Said("The current period of each window."),
    "BoardBody.periods": Said("Ignored, so that a board that was read can be sent back.", {}),
    "PeriodsAnswer.periods": Said("The periods that can be read, newest first."),
    "WindowBody.name": Said("A built-in window's name, or one of your own.", "noon"),
    "retain": Said("How many past periods can be read.", 3),
    "cron": Said("When a period begins, as five fields of cron.", "0 12 * * *"),
    "starts": Said("When the season begins (RFC 3339).", "2026-11-01T00:00:00Z"),
    "ends": Said("When the season ends (RFC 3339).", "2026-12-01T00:00:00Z"),
    "PageAnswer.window": Said("The window's name.", "all-time"),
    "StandingAnswer.window": Said("The window's name.", "all-time"),
    "LookupAnswer.window": Said("The window's name.", "all-time"),
    "PeriodsAnswer.window": Said("The window's name.", "all-time"),
    "PageAnswer.period": Said("The period's id.", "all"),
    "StandingAnswer.period": Said("The period's id.", "all"),
    "LookupAnswer.period": Said("The period's id.", "all"),
    "ReadablePeriod.period": Said("The period's id.", "all"),
    "WindowStanding.period": Said("The period's id.", "all"),
    "TopPart.period": Said("The period's id.", "all"),
    "PeriodPart.period": Said("The period's id.", "all"),
    "window": Said(
        "The name of one of the board's windows. Default: the board's `default_window`; without"
        " one, all-time if the board has it, else its first.",
        "all-time",
    ),
    "period": Said("The id of a period of the window. Default: the current one.", "all"),
    "scope": Said("`global`, or an attribute's value such as `country:US`.", "global"),
    "viewer": Said(
        "The player for whom it is read. One who is shadow-banned is shown itself among others.",
        "alice",
        PLAYER_ID_BYTES_MAX,
    ),
    "state": Said("The state of the period.", "open"),
    "opens_at": Said("When the period opens; null if it always was open.", _TIME),
    "closes_at": Said("When the period closes; null if it never does.", _TIME),
    "ArchivesAnswer.archives": Said("The archives, newest first."),
    "ScopesAnswer.scopes": Said("The scopes that have players."),
    "after": Said("The last scope of the page before.", "country:DE"),
    # --- submissions
    "player": Said("The player's id.", "alice", PLAYER_ID_BYTES_MAX),
    "score": Said("An exact number; with `numbers=string`, a string with the same digits.", 1500),
    "SubmissionBody.score": Said("An exact number, or a string with the same digits.", 1500),
    "subscore": Said("Decides between equal scores, where the board has subscores.", 12),
    "at": Said("When it was achieved (RFC 3339).", "2026-11-15T12:30:00Z"),
    "recorded_at": Said("When it was recorded.", _TIME),
    "details": Said("What was sent with the submission: any JSON.", {"map": "harbour"}),
    "submission": Said("The submission's id.", 17),
    "submissions": Said("Submissions, newest first."),
    "status": Said("Whether the submission changed the player's entry in any window.", "accepted"),
    "standings": Said("Standings, best first."),
    "LookupAnswer.standings": Said("Standings, in the order in which players were asked for."),
    "PlayerStandingsAnswer.standings": Said("Standings, by board and window."),
    "SubmitAnswer.standings": Said("By window: score and rank in the global scope."),
    "stale": Said("True if the submission is recorded, but its ranks are unknown for now.", False),
    "previous_score": Said("The score before; null if there was none.", 1400),
    "previous_rank": Said("The rank before; null if there was none.", 9),
    "accepted": Said("Rows that changed an entry.", 2),
    "unchanged": Said("Rows that are recorded and changed no entry.", 0),
    "duplicates": Said("Rows whose key was used before.", 0),
    "rejected": Said("Rows that were refused, each with its reason."),
    "RejectedRow.pointer": Said("A JSON pointer to the row, or to its member.", "/2/score"),
    # --- standings
    "rank": Said("1 is the best.", 3),
    "total": Said("How many players are on the ladder.", 128),
    "StandingRow.percentile": Said("", 97.65),
    "percentile": Said("The percentage of players that are strictly worse.", 97.65),
    "top_percent": Said("The player is in the top this many percent.", 2.35),
    "achieved_at": Said("When the entry was achieved; equals are told apart by it.", _TIME),
    "name": Said("The player's name.", "Alice", NAME_BYTES_MAX),
    "avatar_url": Said("The address of the player's picture.", "https://example.org/alice.png"),
    "global_rank": Said("Among friends: the rank on the whole ladder.", 57),
    "next": Said("The cursor of the next page; null if this is the last.", "gqVibGl0eg"),
    "BoardsAnswer.next": Said("The cursor of the next page; null if this is the last.", "blitz"),
    "prev": Said("The cursor of the previous page; null if this is the first.", "gqVibGl0eg"),
    "missing": Said("Players that have no standing.", ["nobody"]),
    "players": Said("Ids of at most 1,000 players.", ["alice", "bob"]),
    "limit": Said("How many rows at most.", 10),
    "cursor": Said("`next` of the page before, or `prev` of the one after.", "gqVibGl0eg"),
    "numbers": Said("Whether scores are JSON numbers or strings.", "number"),
    "include": Said("What else to include in each row.", "percentile"),
    "StandingsQuery.from": Said("The place to start from, counted from 1.", 1),
    "min_score": Said("The lowest score of a range, inclusive.", "1000"),
    "max_score": Said("The highest score of a range, inclusive.", "2000"),
    "above": Said("How many better neighbours.", 5),
    "below": Said("How many worse neighbours.", 5),
    "AroundScoreQuery.score": Said("The score whose neighbours are asked for.", "1499"),
    "text": Said("The start of the name, ignoring case, or an exact player id.", "alice"),
    "buckets": Said("How many ranges of scores at most.", 20),
    "Distribution.buckets": Said("Ranges of scores, lowest first."),
    "Bucket.from": Said("The lowest score of the range.", 1000),
    "Bucket.to": Said("The highest score of the range.", 1499),
    "count": Said("How many players have a score in the range.", 7),
    "friends": Said("The ids of the player's friends, sorted.", ["bob"]),
    # --- live
    "top": Said("How many of the first places to follow.", 10),
    "activity": Said("How many of the newest submissions to be told of at once.", 10),
    "LiveQuery.friends": Said("Whether to follow the player's friends.", "true"),
    "LiveQuery.player": Said("The player whose rank to follow.", "alice"),
    "Subscribe.id": Said("The subscription's name, of the client's choice.", "a"),
    "Subscribe.friends": Said("Whether to follow the player's friends.", False),
    "Subscribe.token": Said("", "17-3"),
    "Subscribe.player": Said("The player whose rank to follow.", "alice", PLAYER_ID_BYTES_MAX),
    "Request.subscribe": Said("What to watch."),
    "unsubscribe": Said("The subscription to end.", "a"),
    "TopPart.token": Said("Names the state; subscribe with it to resume.", "17-3"),
    "RankPart.token": Said("Names the state; subscribe with it to resume.", "17-3"),
    "ScorePart.token": Said("Names the state; subscribe with it to resume.", "17-3"),
    "ActivityPart.token": Said("Names the state; subscribe with it to resume.", "17-3"),
    "PeriodPart.token": Said("Names the state; subscribe with it to resume.", "17-3"),
    "ErrorPart.token": Said("Null: there is no state to resume from."),
    "worse": Said("", 118),
    "standing": Said("The player's standing; null if there is none."),
    "previous_period": Said("The period before.", "2026-11-14"),
    "problem": Said("What is wrong."),
    # --- players
    "attributes": Said("What scopes are made of, by name.", {"country": "US"}),
    "ExportedBoard.entries": Said(""),
    "ExportedBoard.history": Said(""),
    "unreadable": Said("", ["daily/2026-11-15"]),
    # --- keys
    "keys": Said("All keys, oldest first."),
    "key": Said("The key's text, which is shown only once.", "tr_mfzwizlr_..."),
    "KeyAnswer.id": Said("The key's id.", "mfzwizlr"),
    "KeyAnswer.name": Said("What people call the key.", "game server"),
    "KeyBody.name": Said("What people call the key.", "game server", access.NAME_BYTES_MAX),
    "KeyPatchBody.name": Said("What people call the key.", "game server", access.NAME_BYTES_MAX),
    "KeyPatchBody.boards": Said("", ["blitz", "eu-*"], access.PATTERNS_MAX),
    "KeyAnswer.expires_at": Said("When it ends to be valid; null if it does not.", _TIME),
    "KeyAnswer.addresses": Said("Where it may be used from; none: anywhere.", ["10.0.0.0/8"]),
    "expires_at": Said("", "2099-01-01T00:00:00Z"),
    "addresses": Said("", ["10.0.0.0/8", "192.0.2.7"], access.ADDRESSES_MAX),
    "overlap_seconds": Said("", 3600),
    "KeyAnswer.boards": Said("Patterns of board ids that it is for.", ["*"]),
    "KeyBody.boards": Said("", ["blitz", "eu-*"], access.PATTERNS_MAX),
    "verbs": Said("What the key allows.", ["read", "write"]),
    "owner": Said(
        "Keys of one owner share their idempotency keys.", "game", access.OWNER_BYTES_MAX
    ),
    "created_at": Said("When it was created.", _TIME),
    "updated_at": Said("When it was last put.", _TIME),
    "last_used_at": Said("When it was last used; null if it never was.", _TIME),
    "SubmissionBody.key": Said("", "match-7f3a", KEY_BYTES_MAX),
    # --- webhooks
    "webhooks": Said("Webhooks, by id."),
    "WebhookInfo.id": Said("The webhook's id, which is the one in the URL.", "chat"),
    "url": Said("Where requests go.", "https://example.org/hooks/toprung", URL_MAX),
    "events": Said("Types of events that it is told of.", ["leader.changed"]),
    "WebhookInfo.boards": Said("Patterns of board ids that it is told of.", ["*"]),
    "WebhookBody.boards": Said("", ["blitz", "eu-*"], access.PATTERNS_MAX),
    "deliveries": Said("Messages, newest first."),
    "DeliveriesQuery.state": Said("Only messages in this state.", "dead"),
    "Delivery.state": Said(
        "`waiting` until it is delivered or, after ten attempts, `dead`.", "delivered"
    ),
    "Delivery.type": Said("The type of the event.", "leader.changed"),
    "attempts": Said("How often it was tried.", 1),
    "attempted_at": Said("When it was last tried.", _TIME),
    "message": Said("The message's id.", "msg_2x637tlsjcdqrxoyx5atoomfvets4wo2"),
    "delivered": Said("Whether the receiver took it.", True),
    "TestResult.status": Said("The status of the answer; null if there was none.", 204),
    "answer": Said("The beginning of the answer, or why there was none.", ""),
    # --- how periods end
    "dry_run": Said("Whether nothing is recorded: the answer tells what would be.", True),
    "PeriodEnding.dry_run": Said("", False),
    "PeriodEnding.players": Said("", 2),
    "entries": Said("", 3),
    "reason": Said("Why the period is changed.", "a bot played for the winner"),
    "remove": Said("", ["mallory"]),
    "AmendmentBody.set": Said("", [{"player": "bob", "score": 1650}]),
    "PeriodAmendment.dry_run": Said("", False),
    "PeriodAmendment.players": Said("", 2),
    "previous_digest": Said("", "0d1b5c43e7a90f11c2b64b1b3f7e8d92a1c0f5e6978877665544332211009988"),
    "PeriodAmendment.amended": Said("", 1),
    "PeriodAmendment.moves": Said("", []),
    "ArchivedPeriod.file": Said("", "blitz-1/daily/2026-11-15.6c512fcf25fd.parquet"),
    "ArchivedPeriod.bytes": Said("", 51200),
    "ArchiveCheck.problem": Said("", "there is no archive of this period"),
    "digest": Said("", "6c512fcf25fdbf0c2ccf127c69cd98ee696e297064f58bd65b55b5da42434110"),
    # --- what is checked, and what waits for a verdict
    "rate": Said("", {"submissions": 10, "seconds": 60}),
    "RateBody.submissions": Said("", 10),
    "RateBody.seconds": Said("In how many seconds.", 60),
    "max_per": Said("", {"amount": 100, "seconds": 60}),
    "amount": Said("", 100),
    "MaxPerBody.seconds": Said("", 60),
    "review": Said("", {"when": {"anomaly": 3.5}, "else": "accept", "expires": 604800}),
    "when": Said("Which submissions wait.", {"anomaly": 3.5}),
    "ReviewWhenBody.top": Said("", 100),
    "anomaly": Said("", 3.5),
    "first_by": Said("", "20%"),
    "restricted": Said("", True),
    "else": Said("", "accept"),
    "ReviewBody.expires": Said("", 604800),
    "reasons": Said("", ["anomaly"]),
    "pending": Said("", 1),
    "provisional_rank": Said("", 1),
    "PastSubmission.status": Said("", "pending"),
    "PastSubmission.verdict": Said("", None),
    "ReviewQueue.submissions": Said("Those that wait."),
    "impact": Said("", 5400),
    "PendingSubmission.expires_at": Said("", "2026-11-22T12:30:00Z"),
    "otherwise": Said("", "accept"),
    "PendingSubmission.entries": Said("", 20),
    "best": Said("", 1500),
    "claimed_by": Said("Who decides it at the moment.", "replay-1"),
    "claimed_until": Said("Until when nobody else decides it.", "2026-11-15T12:35:00Z"),
    "claim": Said("", "7sCUjo264gqtG23Scdf71p2Wwy6FROhc"),
    "ReviewClaim.submission": Said("The submission that is claimed."),
    "by": Said("Who decides, or has decided.", "replay-1"),
    "ClaimBody.seconds": Said("", 300),
    "ClaimBody.board": Said("", "blitz"),
    "ReviewQuery.board": Said("", "blitz"),
    "ReviewQuery.order": Said("", "impact"),
    "ClaimBody.order": Said("", "impact"),
    "ReviewQuery.limit": Said("How many at most.", 50),
    "verdict": Said("What is or was decided.", "accept"),
    "SubmissionDecision.verdict": Said("What was decided.", "accepted"),
    "ShownVerdict.verdict": Said("What was decided.", "accepted"),
    "VerdictBody.reason": Said("", "the replay gives this score"),
    "SubmissionDecision.reason": Said("Why.", "the replay gives this score"),
    "ShownVerdict.reason": Said("Why.", "the replay gives this score"),
    "decided_at": Said("When it was decided.", _TIME),
    "changed": Said("", True),
    # --- history
    "history": Said("", {"every": "day", "keep": 90}),
    "every": Said("", "day"),
    # --- names
    "pending_name": Said("", "Admin"),
    "warnings": Said("", ["mixed-scripts"]),
    "NameReview.name": Said("", "Alice"),
    "NameVerdictBody.name": Said("", "Admin"),
    "names": Said("The players whose names wait."),
    "accept": Said("", True),
    "NameReviewsQuery.after": Said("", "alice"),
    # --- runs
    "run": Said(
        "", "AQ1w5vIAAAAAAAAAASvYBsmF1t8IAAZVbXdYQAAABlVuMwNQAOKPmQYxLw3TWJfF0mwhzJkqd5cLGu9ZZQ"
    ),
    "BoardBody.run": Said("", {"min_seconds": 20, "max_seconds": 3600}),
    "BoardAnswer.run": Said("", {"min_seconds": 20, "max_seconds": 3600}),
    "signature": Said("", "6c512fcf25fdbf0c2ccf127c69cd98ee696e297064f58bd65b55b5da42434110"),
    "Run.key": Said("", "0d1b5c43e7a90f11c2b64b1b3f7e8d92a1c0f5e6978877665544332211009988"),
    "expires": Said("", "2026-11-15T13:00:00Z"),
    "min_seconds": Said("", 20),
    "max_seconds": Said("", 3600),
    "keep": Said("", 90),
    "movement": Said("", {"since": "2026-11-15T00:00:00Z", "rank": 3, "delta": 2}),
    "since": Said("", "2026-11-15T00:00:00Z"),
    "delta": Said("", 2),
    "points": Said("The newest first."),
    "snapshot": Said("", "2026-11-15"),
    # --- how a service fares
    "HealthAnswer.status": Said("`ok`.", "ok"),
    "for": Said("What to check.", "all"),
    "followers": Said("Readers of the journal."),
    "jobs": Said("Scheduled work."),
    "FollowerStatus.name": Said("The follower's name.", "activity"),
    "JobStatus.name": Said("The job's name.", "prune"),
    "target": Said("Where they are sent to: the id of a webhook.", "chat"),
    "waiting": Said("How many wait to be sent.", 0),
    "dead": Said("How many were given up.", 0),
    "oldest_seconds": Said("", 0.0),
    "position": Said("", 4711),
    "lag_events": Said("", 0),
    "lag_seconds": Said("", 0.0),
    "fault": Said("", "event 6: KeyError: 7"),
    "JobStatus.fault": Said("", "internal error; see the log"),
    "faults": Said("", []),
    "runs": Said("", 12),
    "failures": Said("", 0),
    "last_at": Said("", _TIME),
    "last_seconds": Said("", 0.02),
    "next_at": Said("", _TIME),
    "result": Said("", "dropped 0 ladders"),
    "duty": Said("", "jobs"),
    "holder": Said("", "host-1:4711"),
    "token": Said("", 3),
    "left_seconds": Said("", 14.2),
    "FollowerStatus.state": Said("", "following"),
    "JobStatus.state": Said("", "waiting"),
    "ReadyAnswer.status": Said("", "ready"),
    "ReadyAnswer.checks": Said("", {"journal": "ok"}),
    "BackgroundStatus.at": Said("", _TIME),
    "disabled": Said("", "the receiver answered 410"),
    "secret": Said("", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    "skipped": Said("", {"daily": "not-retained"}),
    "Delivery.status": Said("", 204),
    # --- moderation
    "revoked_at": Said("", _TIME),
    "PastSubmission.reason": Said("", "a replay showed a speed hack"),
    "PlayerRestriction.kind": Said("", "hidden"),
    "PlayerRestriction.boards": Said("", ["*"]),
    "PlayerRestriction.reason": Said("Why it was set.", "a bot"),
    "PlayerRestriction.at": Said("", _TIME),
    "RestrictionBody.kind": Said("", "hidden"),
    "RestrictionBody.boards": Said("", ["*"]),
    "until": Said("", "2099-01-01T00:00:00Z"),
    "PlayerRestriction.by": Said("", "key:mfzwizlr"),
    "restrictions": Said("The restrictions.", []),
    "Restrictions.next": Said("Where the next page begins; omitted on the last one.", "17"),
    "Revocation.reason": Said("Why it was revoked.", "a replay showed a speed hack"),
    "Revocation.windows": Said("", []),
    "Revocation.at": Said("When it was achieved.", _TIME),
    "was_revoked": Said("", False),
    "settled": Said("", {"daily": "2026-11-15"}),
    "score_before": Said("The score before.", 9999),
    "rank_before": Said("", 1),
    "RevokedWindow.score": Said("", 70),
    "RevokedWindow.rank": Said("The rank afterwards, if there is one.", 3),
    "RevokedWindow.total": Said("", 3),
    # --- the audit log
    "old": Said("The size of the older tree.", 2),
    "new": Said("The size of the newer tree.", 3),
    "LeavesQuery.start": Said("", 0),
    "LeavesQuery.limit": Said("How many leaves at most.", 100),
    "actor": Said("", "key"),
    "AuditQuery.actor": Said("", "key:mfzwizlr"),
    "AuditQuery.since": Said("", "2026-11-15T00:00:00Z"),
    "AuditQuery.until": Said("", "2026-11-16T00:00:00Z"),
    "AuditQuery.limit": Said("How many acts at most.", 20),
    "AuditQuery.cursor": Said("`next` of the page before.", "4711"),
    "AuditPage.next": Said("", "4711"),
    "origin": Said("", "toprung/5f1d0c9a7b3e2d48"),
    "LogKey.key": Said("", "toprung/5f1d0c9a7b3e2d48+0486c6f1+AVy…"),
    "root": Said("", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
    "note": Said("", "toprung/5f1d0c9a7b3e2d48\n3\n47DE…\n\n— toprung/5f1d0c9a7b3e2d48 BIaG…\n"),
    "size": Said("", 3),
    "InclusionProof.id": Said("", 2),
    "index": Said("", 1),
    "leaf": Said(
        "", '[2,1763209800000000,"score",["blitz",1,"http",[]],0,1763209800000000,5,null,1]'
    ),
    "hashes": Said("", ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]),
    "salts": Said("", {}),
    "checkpoint": Said("The checkpoint that the proof leads to."),
    "LogLeaves.start": Said("", 0),
    "leaves": Said("What was hashed, one text each.", ['[2,1763209800000000,"score",…]']),
    "acts": Said("The acts."),
    "act": Said("What was done.", "board.create"),
    "AuditedAct.at": Said("When it was recorded.", _TIME),
    "AuditedAct.position": Said("The position of its event in the journal.", 4711),
    "AuditedAct.reason": Said("Why; empty if nobody said.", "season 4"),
    "actor_id": Said("The actor's id; empty where the kind says all.", "mfzwizlr"),
    "subject": Said("", "daily/2026-11-15"),
    "SecurityAnswer.since": Said("", _TIME),
    "SecurityAnswer.events": Said(""),
    "counts": Said("", {"unauthorized": 2}),
    "SecurityEvent.at": Said("When.", _TIME),
    "SecurityEvent.kind": Said("", "unauthorized"),
    "client": Said("", "192.0.2.7"),
    "SecurityEvent.detail": Said("", "this key is not valid"),
    "SecurityEvent.key": Said("", "mfzwizlr"),
    # --- problems
    "type": Said("Names the kind of problem, and links to its explanation.", "/docs#invalid"),
    "Problem.title": Said("The kind of problem, for people.", "The input is invalid"),
    "Problem.status": Said("The status of the response.", 422),
    "detail": Said("What is wrong, for people.", "must be a whole number from 1 to 1000"),
    "errors": Said("What is wrong in the input."),
    "InputError.pointer": Said("", "/limit"),
    "request": Said("The request's id, as in the log.", "a7-1c"),
}
