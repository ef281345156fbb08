"""The facade of a service for asynchronous programs: all boards and players, and one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from msgspec import UNSET, UnsetType

from toprung.client.audit import Audit
from toprung.client.caller import Caller
from toprung.client.decoding import board_of
from toprung.client.download import download
from toprung.client.encoding import EXACT, encode, path, query, rules_body
from toprung.client.keys import Keys
from toprung.client.reads import BoardReads
from toprung.client.remote import RemoteFace
from toprung.client.transport import Request
from toprung.client.watch import BoardLive
from toprung.client.webhooks import Webhooks
from toprung.client.writes import BoardWrites
from toprung.contract import BoardAnswer, BoardsAnswer
from toprung.domain.amendment import parse_reason
from toprung.domain.board import parse_board_id
from toprung.domain.board_rules import BoardRules
from toprung.domain.instant import instant_text, parse_instant
from toprung.domain.player import (
    parse_attribute_changes,
    parse_attributes,
    parse_avatar_url,
    parse_player,
)
from toprung.domain.score import INT64_MAX
from toprung.domain.standing import PlayerRestriction, ReviewClaim, SubmissionDecision
from toprung.domain.trust.act import parse_act_reason
from toprung.domain.trust.log import parse_submission_id
from toprung.domain.trust.names import parse_player_name
from toprung.domain.trust.restriction import Kind, parse_boards, parse_kind
from toprung.domain.trust.revoking import Revocation
from toprung.domain.values import bounded, parse_flag, parse_text
from toprung.errors import NotServed
from toprung.faces import BoardMethods, BoardsMethods
from toprung.ports import PlayerProfile
from toprung.service.leaderboards import LISTED_MAX
from toprung.service.players import given


class Leaderboard(BoardReads, BoardWrites, BoardLive, BoardMethods, runs="board"):
    """One board of a service.

    Reads take the options of `toprung.ListOptions` or `toprung.LadderOptions`. They see every
    submission that was acknowledged before.
    """

    __slots__ = ()


class Leaderboards(BoardsMethods, RemoteFace, runs="boards"):
    """All boards and players of one service. Close it, or use it as a context manager."""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.keys = Keys(caller)
        """The access keys of the service."""
        self.audit = Audit(caller)
        """Proof of what the service has recorded, and who administered it."""
        self.webhooks = Webhooks(caller)
        """Addresses that the service tells of what happens."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self._caller.address.url!r}>"

    def because(self, reason: str) -> Self:
        """The same service, which is told why things are changed: the audit log keeps it."""
        return type(self)(self._caller.because(parse_act_reason(reason)))

    # --- boards -----------------------------------------------------------------------------

    async def create(self, board_id: str, /, **rules: Any) -> Leaderboard:
        """Create a board; refused if it exists.

        The rules are those of the HTTP API (docs/reference/http.md). Omitted rules take their
        defaults.
        """
        request = Request(
            method="PUT",
            path=_board(board_id),
            headers={"if-none-match": "*"},
            body=rules_body(board_id, rules),
        )
        return await self._set(request)

    async def replace(self, board_id: str, /, **rules: Any) -> Leaderboard:
        """Create a board or replace all its rules; some cannot change once it has entries."""
        body = rules_body(board_id, rules)
        return await self._set(
            Request(method="PUT", path=_board(board_id), body=body, effect="idempotent")
        )

    async def patch(self, board_id: str, /, **changes: Any) -> Leaderboard:
        """Change some rules of a board; None resets a rule to its default."""
        body = rules_body(board_id, changes)
        return await self._set(Request(method="PATCH", path=_board(board_id), body=body))

    async def board(self, board_id: str) -> Leaderboard:
        """Return the board; raises UnknownBoard if there is none.

        With a player's token nothing is asked: it may not read the rules of private boards.
        """
        place = _board(board_id)
        if self._caller.address.is_of_player:
            return Leaderboard(board_id, self._caller)
        return await self._set(Request(method="GET", path=place, effect="none"))

    # --- players ----------------------------------------------------------------------------

    async def set_player(
        self,
        player: str,
        *,
        name: str | None = None,
        avatar_url: str | None = None,
        attributes: Mapping[str, str] | None = None,
    ) -> PlayerProfile:
        """Replace a player's whole profile: what is omitted is removed.

        If attributes change, the player's entries in open periods move to the matching scopes;
        entries in past periods stay.
        """
        profile = {
            "name": None if name is None else parse_player_name(name),
            "avatar_url": None if avatar_url is None else parse_avatar_url(avatar_url),
            "attributes": None if attributes is None else parse_attributes(attributes),
        }
        return await self._put_profile("PUT", player, profile)

    async def patch_player(
        self,
        player: str,
        *,
        name: str | UnsetType | None = UNSET,
        avatar_url: str | UnsetType | None = UNSET,
        attributes: Mapping[str, str | None] | UnsetType | None = UNSET,
    ) -> PlayerProfile:
        """Change parts of a player's profile: what is omitted stays, None removes it.

        The same goes for each attribute. An unknown player is created.
        """
        changes = {
            "name": given(name, parse_player_name),
            "avatar_url": given(avatar_url, parse_avatar_url),
            "attributes": given(attributes, parse_attribute_changes),
        }
        known = {name: value for name, value in changes.items() if value is not UNSET}
        return await self._put_profile("PATCH", player, known)

    async def review_name(self, player: str, name: str, *, accept: bool) -> None:
        """Decide about a name that waits: it is shown from now on, or the old one stays.

        `name` is the one that was judged; if another one waits by now, NotYet is raised.
        """
        body = {"name": parse_text(name, "name"), "accept": parse_flag(accept, "accept")}
        request = Request(
            method="POST",
            path=path("review", "names", parse_player(player)),
            body=encode(body),
            effect="once",
        )
        await self._caller.answer(request)

    # --- moderation ---------------------------------------------------------------------------

    async def restrict(
        self,
        player: str,
        *,
        kind: Kind,
        reason: str,
        boards: Sequence[str] = ("*",),
        until: datetime | str | None = None,
    ) -> PlayerRestriction:
        """Hide a player from others, in place of whatever restriction there was.

        `kind`: "hidden" (nobody sees its entries, and it has no rank), "shadow" (the same, but with
        `viewer` reads answer as if it were not restricted) or "banned" (hidden, and its submissions
        are refused). `boards` are board ids, in which * matches any characters. Entries of all
        periods that are not settled are hidden, and shown again when the restriction is lifted or
        `until` has passed. The `reason` is kept in the journal for good: it should name nobody.
        """
        members = {
            "kind": parse_kind(kind),
            "reason": parse_reason(reason),
            "boards": parse_boards(list(boards) if isinstance(boards, tuple) else boards),
            "until": None if until is None else instant_text(parse_instant(until, "until")),
        }
        request = Request(
            method="PUT",
            path=path("players", parse_player(player), "restriction"),
            body=encode(members),
            effect="idempotent",
        )
        return await self._caller.call(request, PlayerRestriction)

    async def lift_expired(self) -> int:
        """Not available through a service, which does it itself: raises NotServed."""
        raise NotServed("a service lifts restrictions by itself")

    async def revoke(self, submission: int, *, reason: str, dry_run: bool = False) -> Revocation:
        """Revoke a submission: the player's entries become what its other submissions lead to.

        Periods that are settled stay as they are. With `dry_run` nothing is recorded; either way
        the answer says where the player's entry changes, and its ranks. Revoking twice is harmless.
        The `reason` is kept in the journal for good: it should name nobody.
        """
        position = bounded(submission, INT64_MAX, "submission")
        request = Request(
            method="POST",
            path=path("submissions", str(position), "revoke"),
            query={**EXACT, "dry_run": "true" if parse_flag(dry_run, "dry_run") else "false"},
            body=encode({"reason": parse_reason(reason)}),
            effect="none" if dry_run else "idempotent",
        )
        return await self._caller.call(request, Revocation)

    # --- review -----------------------------------------------------------------------------

    async def claim_review(
        self, by: str, seconds: int = 300, order: str = "impact", board: str | None = None
    ) -> ReviewClaim:
        """Claim the first submission that waits and that nobody has claimed, for some seconds.

        Until then, only a verdict with the claim's token decides it. If nothing waits, the answer
        has no submission.
        """
        body = {"by": by, "seconds": seconds, "order": order, "board": board}
        request = Request(
            method="POST", path=path("review", "claim"), query=EXACT, body=encode(body)
        )
        return await self._caller.call(request, ReviewClaim)

    async def decide(
        self,
        submission: int,
        verdict: str,
        *,
        reason: str = "",
        by: str = "",
        claim: str | None = None,
    ) -> SubmissionDecision:
        """Decide a submission that waits: `accept` or `reject`.

        Accepted, it counts as if it had never waited, but not in periods that are settled. To
        decide the same again is harmless; to decide otherwise raises NotPending.
        """
        body = {"verdict": verdict, "reason": reason, "by": by, "claim": claim}
        request = Request(
            method="POST",
            path=path("submissions", parse_submission_id(submission), "verdict"),
            query=EXACT,
            body=encode(body),
            effect="idempotent",
        )
        return await self._caller.call(request, SubmissionDecision)

    # --- the database behind the service ----------------------------------------------------

    async def verify(self) -> list[str]:
        """Not available through a service: raises NotServed."""
        raise NotServed("a service cannot verify; run this on the database itself")

    async def end_periods(self) -> int:
        """Not available through a service, which does it itself: raises NotServed."""
        raise NotServed("a service ends periods by itself")

    async def take_snapshots(self) -> int:
        """Not available through a service, which does it itself: raises NotServed."""
        raise NotServed("a service takes snapshots by itself")

    async def rebuild(self) -> None:
        """Not available through a service: raises NotServed."""
        raise NotServed("a service cannot rebuild; run this on the database itself")

    async def adopt_archives(self) -> bool:
        """Always raise NotServed: whose archives a place holds is said on the database itself."""
        raise NotServed("a service cannot adopt archives; run this on the database itself")

    async def backup(self, path: str) -> None:
        """Write a consistent copy of the database to a new file; it can be in use meanwhile."""
        await download(self._caller, path)

    async def close(self) -> None:
        """Close all connections; closing twice is harmless."""
        await self._caller.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _set(self, request: Request) -> Leaderboard:
        return Leaderboard((await self._caller.call(request, BoardAnswer)).id, self._caller)

    async def _put_profile(
        self, method: str, player: str, members: Mapping[str, Any]
    ) -> PlayerProfile:
        """Both say what a member is afterwards, so to say it twice does no harm."""
        request = Request(
            method=method, path=_player(player), body=encode(members), effect="idempotent"
        )
        return await self._caller.call(request, PlayerProfile)

    # Below this line `list` is no longer the type.
    async def list(self, after: str = "", limit: int = 100) -> list[BoardRules]:
        """Return the rules of at most 1,000 boards with ids after `after`, sorted by id."""
        parse_text(after, "after")
        bounded(limit, LISTED_MAX, "limit")
        options = query(limit=limit, cursor=after or None, **EXACT)
        request = Request(method="GET", path=path("boards"), query=options, effect="none")
        found = await self._caller.call(request, BoardsAnswer)
        return [board_of(each) for each in found.boards]


def _board(board_id: str) -> str:
    return path("boards", parse_board_id(board_id))


def _player(player: str) -> str:
    return path("players", parse_player(player))
