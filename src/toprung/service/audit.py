"""The audit log as callers see it: checkpoints, proofs, leaves, and who acted.

The follower `log` keeps its tiles (`background.sequencing`); nothing here writes. All answers are
about the leaves that it has sequenced.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from toprung.domain.activity import key_of
from toprung.domain.events import KINDS, Event, EventBody, Scored
from toprung.domain.instant import instant_datetime, parse_instant
from toprung.domain.trust.leaves import leaf_of, salt_of
from toprung.domain.trust.log import (
    FIRSTS,
    LOG,
    POSITION_MAX,
    SIZE_MAX,
    AuditedAct,
    AuditPage,
    ConsistencyProof,
    InclusionProof,
    LeafTile,
    LogKey,
    LogLeaves,
    parse_submission_id,
    tile_board,
    unpack_tile,
)
from toprung.domain.trust.merkle import (
    EMPTY_ROOT,
    TILE_WIDTH,
    Node,
    Range,
    Tree,
    consistency_ranges,
    inclusion_ranges,
    node_in,
    range_hash,
    tile_of,
    tiles_of,
)
from toprung.domain.trust.notes import Checkpoint, checkpoint_text, signed_note
from toprung.domain.values import bounded, parse_text, whole_or_text
from toprung.errors import DatabaseDamaged, Invalid, NotFound, NotSequenced
from toprung.ports import ActsAsked, AuditStore, FollowerStore, Journal, LogSigner, Selection
from toprung.service.background.sequencing import size_in
from toprung.waiting.pace import in_turn

LEAVES_MAX: Final = 1_000
ACTS_MAX: Final = 1_000
_ALL: Final = Selection(tuple(KINDS.values()))


class AuditLog:
    """What is provable of a database, and who administered it."""

    def __init__(
        self,
        audit: AuditStore,
        followers: FollowerStore,
        journal: Journal,
        signer: LogSigner,
        catch_up: Callable[[str], Awaitable[None]] | None,
    ) -> None:
        """`catch_up` brings the follower to the journal's end, unless that is being done anyway."""
        self.store = audit
        self.followers = followers
        self.journal = journal
        self.signer = signer
        self.catch_up = catch_up

    # --- the tree --------------------------------------------------------------------------------

    async def key(self) -> LogKey:
        """Return the public key that checkpoints of the audit log are checked with."""
        verifier = await self.signer.verifier()
        return LogKey(verifier.name, verifier.text)

    async def checkpoint(self) -> Checkpoint:
        """Return how much the audit log holds, signed. Keep one to check later ones against."""
        return await self._signed(await self._size())

    async def proof(self, submission: int | str) -> InclusionProof:
        """Return the proof that a submission is in the audit log, by its position.

        Raises NotSequenced if it is not in there yet, and NotFound if there is no such submission.
        """
        position = int(parse_submission_id(submission))
        event = await self._submission(position)
        size = await self._size()
        tile, place, index = await self._leaf(position, size)
        body = event.body
        assert isinstance(body, Scored), "nothing else is a submission"
        commitments = tile.commitments.get(place, {})
        secrets = await self.store.secrets([body.player]) if commitments else {}
        salts = {
            name: salt_of(secrets[body.player], position, name).hex()
            for name in commitments
            if body.player in secrets
        }
        return InclusionProof(
            position,
            body.board,
            index,
            leaf_of(event, commitments).decode(),
            await self._hashes(inclusion_ranges(index, size)),
            salts,
            await self._signed(size),
        )

    async def board_of(self, submission: int | str) -> str:
        """The board of a submission; NotFound if there is no such one."""
        body = (await self._submission(int(parse_submission_id(submission)))).body
        assert isinstance(body, Scored), "nothing else is a submission"
        return body.board

    async def consistency(self, old: int, new: int | None = None) -> ConsistencyProof:
        """Return the proof that the log of `new` leaves begins with that of `old`.

        By default `new` is as many as there are.
        """
        size = await self._size()
        end = size if new is None else bounded(new, size, "new", 0)
        start = bounded(old, end, "old", 0)
        ranges = consistency_ranges(start, end) if start else []
        return ConsistencyProof(start, end, await self._hashes(ranges))

    async def leaves(self, start: int = 0, limit: int = LEAVES_MAX) -> LogLeaves:
        """Return at most 1,000 leaves of the audit log from a number on, in order."""
        bounded(limit, LEAVES_MAX, "limit")
        size = await self._size()
        begin = bounded(start, SIZE_MAX, "start", 0)
        end, found = min(size, begin + limit), []
        while begin < end:
            number = begin // TILE_WIDTH
            stop = min(end, (number + 1) * TILE_WIDTH)
            places = range(begin - number * TILE_WIDTH, stop - number * TILE_WIDTH)
            found += await self._texts(await self._leaf_tile(number), places)
            begin = stop
        return LogLeaves(start, size, tuple(found))

    # --- who acted -------------------------------------------------------------------------------

    async def acts(
        self,
        actor: str | None = None,
        board: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> AuditPage:
        """Return acts of administration, newest first, at most 1,000 at a time.

        `actor` is a kind, such as ``cli``, or a kind and an id, such as ``key:abcd2345``.
        """
        bounded(limit, ACTS_MAX, "limit")
        asked = ActsAsked(
            limit=limit + 1,
            before=None if cursor is None else _before(cursor),
            actor=None if actor is None else _text(actor, "actor"),
            board=None if board is None else _text(board, "board"),
            since=None if since is None else parse_instant(since, "since"),
            until=None if until is None else parse_instant(until, "until"),
        )
        found = await self.store.acts(asked)
        shown = found[:limit]
        players = [number for event in shown if (number := _player(event.body)) is not None]
        ids = await self.journal.ids(players) if players else {}
        acts = tuple(_shown(event, ids) for event in shown)
        return AuditPage(acts, str(acts[-1].position) if len(found) > limit else None)

    # --- inside ----------------------------------------------------------------------------------

    async def _size(self) -> int:
        """How many leaves are sequenced; of a file that nobody serves, all."""
        if self.catch_up is not None:
            await self.catch_up(LOG)
        state = (await self.followers.states()).get(LOG)
        return 0 if state is None else size_in(state.note)

    async def _signed(self, size: int) -> Checkpoint:
        root = EMPTY_ROOT
        if size:
            root = (await self._range_hashes([(0, size)]))[0]
        verifier = await self.signer.verifier()
        text = checkpoint_text(verifier.name, Tree(size, root))
        signature = await self.signer.sign(text.encode())
        note = signed_note(text, verifier, lambda _: signature)
        return Checkpoint(verifier.name, size, _base64(root), note)

    async def _hashes(self, ranges: Sequence[Range]) -> tuple[str, ...]:
        return tuple(map(_base64, await self._range_hashes(ranges)))

    async def _range_hashes(self, ranges: Sequence[Range]) -> list[bytes]:
        """The hashes of ranges: O(log n), a few tiles of each level."""
        if not ranges:
            return []
        tiles = await self._tiles(tiles_of(ranges))

        def node(asked: Node) -> bytes:
            return node_in(tiles[tile_of(asked)], asked)

        def hashes() -> list[bytes]:
            return [range_hash(each, node) for each in ranges]

        try:
            return await in_turn(hashes, len(ranges) * 8)
        except (KeyError, ValueError) as error:
            raise DatabaseDamaged(f"tiles of the audit log are missing ({error})") from error

    async def _tiles(self, wanted: set[Node]) -> dict[Node, bytes]:
        names = {(tile_board(level), key_of(number)): (level, number) for level, number in wanted}
        rows = await self.followers.find_rows(LOG, list(names))
        return {
            names[name]: value if names[name][0] else unpack_tile(value).hashes
            for name, value in rows.items()
        }

    async def _leaf_tile(self, number: int) -> LeafTile:
        rows = await self.followers.find_rows(LOG, [(tile_board(0), key_of(number))])
        for value in rows.values():
            return unpack_tile(value)
        raise DatabaseDamaged(f"tile {number} of the audit log is missing")

    async def _leaf(self, position: int, size: int) -> tuple[LeafTile, int, int]:
        """The tile of an event's leaf, its place there and its number; NotSequenced if none."""
        rows = await self.followers.rows(LOG, FIRSTS, key_of(position + 1), 1)
        for _, value in rows:
            number = int.from_bytes(value)
            tile = await self._leaf_tile(number)
            place = tile.place_of(position)
            if place is not None and number * TILE_WIDTH + place < size:
                return tile, place, number * TILE_WIDTH + place
        raise NotSequenced(f"submission {position} is not in the audit log yet; try again shortly")

    async def _submission(self, position: int) -> Event:
        stretch = await self.followers.read(position - 1, 1, Selection((Scored,)))
        for event in stretch.events:
            if event.position == position:
                return event
        raise NotFound(f"there is no submission {position}")

    async def _texts(self, tile: LeafTile, places: range) -> list[str]:
        """Leaves of a tile as they were hashed, made of their events again."""
        positions = tile.positions
        first, last = positions[places[0]], positions[places[-1]]
        stretch = await self.followers.read(first - 1, last - first + 1, _ALL)
        events = {event.position: event for event in stretch.events}

        def texts() -> list[str]:
            return [
                leaf_of(events[positions[place]], tile.commitments.get(place, {})).decode()
                for place in places
            ]

        try:
            return await in_turn(texts, len(places))
        except KeyError as error:
            raise DatabaseDamaged(f"event {error} of the audit log is missing") from None


def _shown(event: Event, ids: Mapping[int, str]) -> AuditedAct:
    body, act = event.body, event.body.by
    assert act is not None, "nothing else is an act"
    window, period = getattr(body, "window", None), getattr(body, "period", None)
    player = _player(body)
    return AuditedAct(
        event.position,
        instant_datetime(event.recorded_at),
        act.name,
        act.actor,
        act.id,
        act.reason or getattr(body, "reason", ""),
        getattr(body, "board", None),
        None if player is None else ids.get(player),
        getattr(body, "subject", None) if window is None else f"{window}/{period}",
    )


def _player(body: EventBody) -> int | None:
    return getattr(body, "player", None)


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _text(value: object, field: str) -> str:
    text = parse_text(value, field)
    if not text or len(text) > 200 or not text.isprintable():
        raise Invalid(field, "must have 1 to 200 visible characters")
    return text


def _before(cursor: object) -> int:
    number = whole_or_text(parse_text(cursor, "cursor"))
    if isinstance(number, int) and 0 < number <= POSITION_MAX:
        return number
    raise Invalid("cursor", "is not a cursor of this list")
