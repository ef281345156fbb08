"""From the embedded profile to the cluster profile without losing a score.

Everything is copied as it was recorded: positions (so submissions keep their ids), times, routes,
idempotency keys, access keys, webhooks with what they still have to be told. All of it goes into
one transaction, so an interrupted copy leaves nothing behind and can simply be run again; a
finished one is recognised and only compared.

Players' numbers grow by one: the embedded profile counts from 0, the cluster from 1.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import msgspec

from toprung.domain.board import Board
from toprung.domain.card import (
    card_entry,
    join_card,
    number_bytes,
    period_name,
    scopes_name,
)
from toprung.domain.documents import renumbered_key
from toprung.domain.events import Event, Scored, act_row, renumbered, renumbered_document
from toprung.domain.idempotency import claims_of, key_digest, owner_of, unowned_digest
from toprung.domain.ladder import Route, is_kept
from toprung.domain.player import GLOBAL
from toprung.domain.snapshots import PLAYERS
from toprung.domain.trust.act import ActRow
from toprung.domain.trust.restriction import plain_scope
from toprung.domain.webhooks import MESSAGE
from toprung.errors import Invalid
from toprung.journals import postgres_import as into
from toprung.journals.postgres_import import PostgresImport
from toprung.journals.postgres_routes import route_name
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import EmbeddedProfile
from toprung.service.compare import Side, board_differences, player_differences
from toprung.service.webhooks.follower import PREFIX
from toprung.service.webhooks.leaders import renumbered_told
from toprung.service.webhooks.messages import renumbered_message

PAGE = 5000
PARTS = 100
"""Parts of ladders that are read at once: two megabytes."""
DIFFERENCES_MAX = 100

T = TypeVar("T")
Tell = Callable[[str, int, int], None]
"""Told of progress: what is being copied, how much of it is done, how much there is."""


class CopyResult(NamedTuple):
    """What became of a copy."""

    last_position: int
    """The last position that was copied."""
    was_there: bool
    """Whether an earlier run had copied everything already."""
    differences: list[str]
    """What the comparison of both sides found; nothing, if all is well."""
    is_compared: bool = True
    """False when the cluster has gone on since the copy, so that it must differ."""


async def copy_into_cluster(
    source: EmbeddedProfile, target: ClusterProfile, tell: Tell = lambda *_: None
) -> CopyResult:
    """Copy an embedded database, which nobody else can use meanwhile, into an empty cluster.

    Invalid if the cluster holds anything else, or an older copy of this database.
    """
    copying = _Copying(source, target, tell)
    was_there = await copying.copy()
    if was_there is not None and not was_there.is_current:
        return CopyResult(was_there.last_position, True, [], is_compared=False)
    await target.rebuild()
    differences = [line async for line in copying.differences()]
    return CopyResult(copying.last_position, was_there is not None, differences)


class _Recorded(NamedTuple):
    """A route as the file has it."""

    board: str
    generation: int
    version: int
    source: str
    route: Route


class _Copying:
    def __init__(self, source: EmbeddedProfile, target: ClusterProfile, tell: Tell) -> None:
        self._source = source
        self._target = target
        self._store = target.store
        self._tell = tell
        self.last_position = source.journal.position
        self._routes = {row[0]: _Recorded(*row[1:]) for row in source.journal.recorded.routes()}
        self._route_numbers: dict[int, int] = {}

    async def copy(self) -> into.Copied | None:
        """Copy everything; what was there already instead, if anything was."""
        await self._make_partitions()
        async with PostgresImport.begin(self._store) as target:
            copied = await target.copied()
            if copied is not None:
                self._check_same(copied)
                return copied
            await self._copy_players(target)
            await self._copy_boards(target)
            await self._copy_submissions(target)
            await self._copy_events(target)
            await self._copy_documents(target)
            await self._copy_keys(target)
            await self._copy_effects(target)
            await self._copy_webhooks(target)
            await self._copy_snapshots(target)
            await target.finish(self._source.store.database, self.last_position)
        return None

    def _check_same(self, copied: into.Copied) -> None:
        if copied.database != self._source.store.database:
            raise Invalid("to", "the cluster contains the copy of another database")
        if copied.last_position != self.last_position:
            raise Invalid(
                "from",
                f"has gone on to position {self.last_position} since it was copied at"
                f" {copied.last_position}; copy it to an empty schema",
            )

    async def _make_partitions(self) -> None:
        """Partitions for every month that has events."""
        rows = self._source.store.select(
            "SELECT DISTINCT strftime('%Y-%m', recorded_at / 1000000, 'unixepoch'), "
            "min(recorded_at) FROM (SELECT recorded_at FROM submissions UNION ALL "
            "SELECT recorded_at FROM events) GROUP BY 1 ORDER BY 1"
        )
        for _, moment in rows:
            await self._store.prepare_partitions(moment)

    # --- players -------------------------------------------------------------------------------

    async def _copy_players(self, target: PostgresImport) -> None:
        fold = self._source.fold
        total = len(fold.players)
        done = 0
        for page in self._players():
            rows = [
                (number + 1, player, name, avatar, _json(fold.columns.attributes(number)), *rest)
                for number, player, name, avatar, *rest in page
            ]
            await target.add("players", into.PLAYER_COLUMNS, rows)
            done += len(rows)
            self._tell("players", done, total)
        pairs = ((n + 1, friend + 1) for n, friends in fold.friends.items() for friend in friends)
        for some in _some(pairs, PAGE):
            await target.add("friends", into.FRIEND_COLUMNS, some)

    def _players(self) -> Iterator[list[tuple[Any, ...]]]:
        columns = "number, id, name, avatar_url, folded, pending_name"
        statement = f"SELECT {columns} FROM players WHERE number > ?"  # noqa: S608
        return self._source.store.pages(statement, -1)

    # --- boards --------------------------------------------------------------------------------

    async def _copy_boards(self, target: PostgresImport) -> None:
        boards = self._source.fold.boards
        rows = [
            (board.id, board.generation, board.version, _json(board.kept()))
            for board in boards.values()
        ]
        await target.add("boards", into.BOARD_COLUMNS, rows)
        for board in boards.values():
            async for cards in self._cards(board):
                await target.add("cards", into.CARD_COLUMNS, cards)

    async def _cards(self, board: Board) -> AsyncIterator[list[tuple[int, int, int, bytes]]]:
        """Every player's card on the board, in pages."""
        fold, now = self._source.fold, self._source.journal.time.moment().cautious
        sets = [
            (ladder, ranked)
            for ladder, ranked in fold.index.sets(board.id)
            if plain_scope(ladder.scope) == GLOBAL and is_kept(board, ladder, now)
        ]
        names = [period_name(ladder.window, ladder.period) for ladder, _ in sets]
        periods = await self._store.numbers(board.generation, "p", names)
        known = (number for number in range(fold.players.limit) if fold.is_known(number))
        for numbers in _some(known, PAGE):
            found: dict[int, list[tuple[int, str, bytes]]] = {}
            for number in numbers:
                scopes_of = fold.kept_scopes(board, number)
                for (ladder, ranked), name in zip(sets, names, strict=True):
                    record = ranked.find(number)
                    if record is not None:
                        scopes = _in_order(board, scopes_of(ladder.window, ladder.period))
                        found.setdefault(number, []).append((periods[name], scopes, record))
            wanted = {scopes for entries in found.values() for _, scopes, _ in entries}
            scope_numbers = await self._store.numbers(board.generation, "s", wanted)
            yield [
                (
                    board.generation,
                    number + 1,
                    self.last_position,
                    join_card(
                        card_entry(
                            number_bytes(period), number_bytes(scope_numbers[scopes]), record
                        )
                        for period, scopes, record in entries
                    ),
                )
                for number, entries in found.items()
            ]
            self._tell(f"board {board.id}", numbers[-1] + 1, fold.players.limit)

    # --- events --------------------------------------------------------------------------------

    async def _copy_submissions(self, target: PostgresImport) -> None:
        pages = self._source.store.pages(
            "SELECT s.position, s.recorded_at, s.route, s.player, s.at, s.score, s.subscore,"
            " s.status, d.body FROM submissions AS s LEFT JOIN details AS d USING (position)"
            " WHERE s.position > ?",
            0,
        )
        await self._target.formats.permit(Scored)
        for page in pages:
            numbers = await self._numbers_of({row[2] for row in page})
            rows = [
                (position, recorded_at, self._routes[route].generation, player + 1, at, score,
                 subscore, numbers[route], status, details, "score")
                for position, recorded_at, route, player, at, score, subscore, status, details
                in page
            ]  # fmt: skip
            await target.add("events", into.SCORE_COLUMNS, rows)
            self._tell("submissions", page[-1][0], self.last_position)

    async def _numbers_of(self, routes: set[int]) -> dict[int, int]:
        """The numbers that the cluster gives to routes."""
        for route in routes - self._route_numbers.keys():
            found = self._routes[route]
            name = route_name(found.board, found.version, found.source, found.route)
            numbers = await self._store.numbers(found.generation, "r", [name])
            self._route_numbers[route] = numbers[name]
        return self._route_numbers

    async def _copy_events(self, target: PostgresImport) -> None:
        events = self._source.journal.recorded.events_between(0, self.last_position)
        for some in _some(events, PAGE):
            for kind, wanted in {(type(each.body), each.body.written_format) for each in some}:
                await self._target.formats.permit(kind, wanted)
            await target.add("events", into.EVENT_COLUMNS, list(map(_moved, some)))
            acts = [act for event in some if (act := act_row(event)) is not None]
            await target.add("acts", into.ACT_COLUMNS, map(_moved_act, acts))

    async def _copy_documents(self, target: PostgresImport) -> None:
        after: tuple[Any, ...] = ("", "")
        while some := self._source.store.select(
            "SELECT kind, key, version, value FROM documents WHERE (kind, key) > (?, ?)"
            " ORDER BY kind, key LIMIT ?",
            (*after, PAGE),
        ):
            after = some[-1][:2]
            moved = [
                (
                    kind,
                    renumbered_key(kind, key, _number),
                    version,
                    _json(renumbered_document(kind, _read(value), _number)),
                )
                for kind, key, version, value in some
            ]
            await target.add("documents", into.DOCUMENT_COLUMNS, moved)

    async def _copy_keys(self, target: PostgresImport) -> None:
        """Idempotency keys that are still remembered, and the access keys of services."""
        pages = self._source.store.pages(
            "SELECT position, recorded_at, route, player, status, key, digest, outcome"
            " FROM submissions WHERE key IS NOT NULL AND position > ?",
            self._source.journal.time.forgotten,
        )
        seen: set[tuple[int, bytes]] = set()
        for page in pages:
            rows = []
            for position, recorded_at, route, player, status, key, digest, outcome in page:
                generation = self._routes[route].generation
                told = (digest, position, recorded_at, status, outcome, player + 1)
                for claim in claims_of(key):
                    digest_of = unowned_digest if owner_of(claim) is None else key_digest
                    name = (generation, digest_of(generation, claim))
                    if name not in seen:
                        seen.add(name)
                        rows.append((*name, *told))
            await target.add("keys", into.KEY_COLUMNS, rows)
        keys = await self._source.keys.all()
        columns = (
            "id", "name", "verbs", "boards", "digest", "created_at", "last_used_at", "owner",
            "expires_at", "addresses",
        )  # fmt: skip
        await target.add(
            "access_keys", columns, [tuple(getattr(key, name) for name in columns) for key in keys]
        )

    # --- what runs in the background -------------------------------------------------------------

    async def _copy_effects(self, target: PostgresImport) -> None:
        """What still waits or was given up, in the order in which it was written."""
        pages = self._source.store.pages(
            f"SELECT number, {', '.join(into.EFFECT_COLUMNS)} FROM effects"  # noqa: S608
            " WHERE state <> 1 AND number > ?",
            0,
        )
        for page in pages:
            rows = []
            for _, effect_id, kind, whose, event, body, player, other, is_brief, *rest in page:
                moved = renumbered_message(event, body, _number) if kind == MESSAGE else body
                named = [None if each is None else _number(each) for each in (player, other)]
                rows.append((effect_id, kind, whose, event, moved, *named, bool(is_brief), *rest))
            await target.add("effects", into.EFFECT_COLUMNS, rows)

    async def _copy_webhooks(self, target: PostgresImport) -> None:
        """Webhooks with their followers, which go on where they are: positions stay the same.

        Every other follower begins anew, for it can derive again what it keeps.
        """
        select = self._source.store.select
        found = select(f"SELECT {', '.join(into.WEBHOOK_COLUMNS)} FROM webhooks")  # noqa: S608
        rows = [
            (webhook, url, _list(events), _list(boards), *rest)
            for webhook, url, events, boards, *rest in found
        ]
        await target.add("webhooks", into.WEBHOOK_COLUMNS, rows)
        whose = f"{PREFIX}*"
        followers = select(
            "SELECT name, position, note, fault FROM followers WHERE name GLOB ?", (whose,)
        )
        await target.add("followers", into.FOLLOWER_COLUMNS, followers)
        for name, *_ in followers:
            await self._copy_derived(target, name)

    async def _copy_derived(self, target: PostgresImport, follower: str) -> None:
        """What a webhook was told, by ladder."""
        after: tuple[Any, ...] = ("", b"")
        while page := self._source.store.select(
            "SELECT board, key, player, value FROM derived"
            " WHERE follower = ? AND (board, key) > (?, ?) ORDER BY board, key LIMIT ?",
            (follower, *after, PAGE),
        ):
            after = page[-1][:2]
            rows = [
                (
                    *(follower, board, key),
                    None if player is None else _number(player),
                    renumbered_told(value, _number),
                )
                for board, key, player, value in page
            ]
            await target.add("derived", into.DERIVED_COLUMNS, rows)

    async def _copy_snapshots(self, target: PostgresImport) -> None:
        """Snapshots that are finished, oldest first. Numbers of players grow by one in all parts.

        Parts say by how much the numbers of players differ, so only the first number changes.
        """
        select = self._source.store.select
        columns = into.SNAPSHOT_COLUMNS
        rows = select(f"SELECT {', '.join(columns)} FROM snapshots ORDER BY number")  # noqa: S608
        await target.add("snapshots", columns, rows)
        for at, (generation, boundary, *_) in enumerate(rows, 1):
            await self._copy_ladders(target, (generation, boundary))
            self._tell("snapshots", at, len(rows))

    async def _copy_ladders(self, target: PostgresImport, key: tuple[int, int]) -> None:
        """The ladders of a snapshot, with their parts."""
        select = self._source.store.select
        ladders, parts = into.SNAPSHOT_LADDER_COLUMNS, into.SNAPSHOT_PART_COLUMNS
        after: tuple[int, ...] = (-1,)
        while rows := select(
            f"SELECT {', '.join(ladders)} FROM snapshot_ladders"  # noqa: S608
            " WHERE generation = ? AND boundary = ? AND ladder > ? ORDER BY ladder LIMIT ?",
            (*key, *after, PAGE),
        ):
            after = (rows[-1][2],)
            await target.add("snapshot_ladders", ladders, rows)
        after = (-1, 0, 0)
        while rows := select(
            f"SELECT {', '.join(parts)} FROM snapshot_parts"  # noqa: S608
            " WHERE generation = ? AND boundary = ? AND (ladder, kind, first) > (?, ?, ?)"
            " ORDER BY ladder, kind, first LIMIT ?",
            (*key, *after, PARTS),
        ):
            after = rows[-1][2:5]
            moved = [
                (*where, kind, _number(first) if kind == PLAYERS else first, body)
                for *where, kind, first, body in rows
            ]
            await target.add("snapshot_parts", parts, moved)

    # --- comparing -----------------------------------------------------------------------------

    async def differences(self) -> AsyncIterator[str]:
        """What both sides do not have alike, at most 100 lines."""
        one = Side("the file", self._source.journal, self._source.index)
        other = Side("the cluster", self._target.journal, self._target.index)
        found = 0
        now = self._source.journal.time.moment().cautious
        async for line in board_differences(one, other, now):
            yield line
            found += 1
            if found == DIFFERENCES_MAX:
                return
        friends = self._source.fold.friends
        done, total = 0, len(self._source.fold.players)
        for page in self._players():
            players = [row[1] for row in page]
            befriended = [player for number, player, *_ in page if number in friends]
            async for line in player_differences(one, other, players, befriended):
                yield line
                found += 1
                if found == DIFFERENCES_MAX:
                    return
            done += len(page)
            self._tell("comparing", done, total)
        counted = [await self._count_source(), await self._count_target()]
        if counted[0] != counted[1]:
            yield f"events: {counted[0]} in the file, {counted[1]} in the cluster"

    async def _count_source(self) -> int:
        tables = ("submissions", "events")
        select = self._source.store.select
        return sum(select(f"SELECT count(*) FROM {table}")[0][0] for table in tables)  # noqa: S608

    async def _count_target(self) -> int:
        async with self._store.connection() as connection:
            return int(await connection.fetchval("SELECT count(*) FROM events"))


def _in_order(board: Board, scopes: tuple[str, ...] | None) -> str:
    """The name of scopes, which the fold finds in no certain order."""
    order = {name: at for at, name in enumerate(board.scopes)}

    def place(scope: str) -> int:
        return order.get(plain_scope(scope).partition(":")[0], 0)

    found = sorted(scopes or (GLOBAL,), key=place)
    return scopes_name(found)


def _number(number: int) -> int:
    """The number of a player in the cluster."""
    return number + 1


def _list(text: str) -> list[str]:
    return msgspec.json.decode(text, type=list[str])


def _read(text: str) -> dict[str, Any]:
    return msgspec.json.decode(text, type=dict[str, Any])


def _moved(event: Event) -> tuple[int, int, str, str]:
    """The row of an event in the cluster."""
    body = renumbered(event.body, _number)
    moved = msgspec.structs.replace(event, body=body)
    return moved.position, moved.recorded_at, moved.kind, moved.text


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _some(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of at most `size`."""
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some


def _moved_act(act: ActRow) -> ActRow:
    """By what an act is found in the cluster."""
    return act if act.player is None else act._replace(player=_number(act.player))
