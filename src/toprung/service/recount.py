"""Counting again: what a player's events lead to, held against the cards that were kept.

The events of one player are replayed with what decided them (`domain.entry.decide` on the routes
recorded with them); nothing but one player's entries is in memory at a time. Only periods that are
retained now are compared: cards drop others when they are next written.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from toprung.domain.board import Board
from toprung.domain.card import entry_record, entry_scopes, split_card
from toprung.domain.entry import Entry, decide
from toprung.domain.events import (
    EntriesRemoved,
    EntriesSet,
    EventBody,
    PeriodName,
    PlayerRestricted,
    PlayerSet,
)
from toprung.domain.ladder import Ladder, is_retained
from toprung.domain.layout import Layout, Placed, entries_set, hidden_entries, move_of
from toprung.domain.player import GLOBAL
from toprung.domain.submission import Submission
from toprung.domain.trust.restriction import restricted_attributes, restriction_on
from toprung.ports import Histories, HistoryRow, RulesSet

Counted = dict[PeriodName, Placed[Entry]]
"""The entries that events lead to."""


class _Rules:
    """The rules of one board through time."""

    def __init__(self) -> None:
        self.versions: list[RulesSet] = []
        self.periods: dict[bytes, PeriodName] = {}
        self.scopes: dict[bytes, tuple[str, ...]] = {}

    @property
    def board(self) -> Board:
        """As it is now."""
        return self.versions[-1].board


class _Player:
    """One player's entries, while its events go by."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.id: str | None = None
        self.attributes: Mapping[str, str] = {}
        self.counted: dict[int, Counted] = {}
        self.seen: dict[int, int] = {}
        """How many versions of a board's rules were taken into account."""
        self.cards: dict[int, bytes] = {}


class Recount:
    """Replays histories and names what differs."""

    def __init__(self, histories: Histories, now: int) -> None:
        self._histories = histories
        self._now = now
        self._rules: dict[int, _Rules] = {}
        self._generations: dict[str, int] = {}
        self._retained: dict[tuple[int, PeriodName], bool] = {}

    async def differences(self) -> AsyncGenerator[str, None]:
        """One line per entry that is not what the events say."""
        for each in await self._histories.rules():
            generation = each.board.generation
            self._rules.setdefault(generation, _Rules()).versions.append(each)
            self._generations[each.board.id] = generation
        for generation, rules in self._rules.items():
            rules.periods, rules.scopes = await self._histories.names(generation)
        player = _Player(0)
        async for rows in self._histories.rows():
            for row in rows:
                if row.player != player.number:
                    for line in self._compare(player):
                        yield line
                    player = _Player(row.player)
                self._take(player, row)
        for line in self._compare(player):
            yield line

    # --- replaying -------------------------------------------------------------------------------

    def _take(self, player: _Player, row: HistoryRow) -> None:
        if row.kind == "known":
            player.id = row.id
        elif row.kind == "card":
            if row.generation in self._rules and row.entries:
                player.cards[row.generation] = row.entries
        elif player.id is not None:  # of the erased nothing is left
            if row.event is None:
                self._score(player, row)
            else:
                self._event(player, row.position, row.event.body)

    def _score(self, player: _Player, row: HistoryRow) -> None:
        if row.generation not in self._rules:
            return
        counted = self._counted(player, row.generation, row.position)
        board = self._version(row.generation, row.version)
        assert row.score is not None
        assert row.at is not None
        submission = Submission(str(player.id), row.score, row.at, row.subscore)
        for window, period, scopes in row.stops:
            kept, old = counted.get((window, period), (scopes, None))
            new = decide(board, old, submission, row.position)
            if new is not old:  # an entry keeps its scopes
                counted[window, period] = Placed(kept, new)

    def _event(self, player: _Player, position: int, event: EventBody) -> None:
        if isinstance(event, EntriesRemoved):
            generation = self._generation(event.board, position)
            if generation is not None:
                self._counted(player, generation, position).clear()
        elif isinstance(event, EntriesSet):
            generation = self._generation(event.board, position)
            if generation is not None:
                self._counted(player, generation, position)
                board = self._rules[generation].versions[player.seen[generation] - 1].board
                player.counted[generation] = {
                    period: Placed(placed.scopes, board.shape.entry(placed.entry))
                    for period, placed in entries_set(board, event, position).items()
                }
        elif isinstance(event, PlayerRestricted):
            self._restricted(player, position, event)
        elif isinstance(event, PlayerSet):
            for generation in list(player.counted):  # earlier rules go by earlier attributes
                self._counted(player, generation, position)
            for board_id, periods in event.open.items():
                generation = self._generation(board_id, position)
                if generation is not None:
                    counted = self._counted(player, generation, position)
                    board = self._rules[generation].versions[player.seen[generation] - 1].board
                    move = move_of(board, player.attributes, event.attributes)
                    player.counted[generation] = move.of(counted, periods)
            player.attributes = event.attributes

    def _restricted(self, player: _Player, position: int, event: PlayerRestricted) -> None:
        for each in list(player.counted):
            self._counted(player, each, position)
        player.attributes = restricted_attributes(player.attributes, event.restriction)
        for board_id, periods in event.moved.items():
            generation = self._generation(board_id, position)
            if generation is not None:
                counted = self._counted(player, generation, position)
                hidden = restriction_on(board_id, player.attributes) is not None
                player.counted[generation] = hidden_entries(counted, periods, hidden=hidden)

    def _generation(self, board_id: str, position: int) -> int | None:
        """The board, if it is the one that has the name today."""
        generation = self._generations.get(board_id)
        return generation if generation is not None and generation <= position else None

    def _version(self, generation: int, version: int) -> Board:
        versions = self._rules[generation].versions
        held = (v.board for v in reversed(versions) if v.board.version <= version)
        return next(held, versions[0].board)  # closing a period is a version, too, but no new rules

    def _counted(self, player: _Player, generation: int, position: int) -> Counted:
        """The player's entries on a board, under the rules that held at a position."""
        counted = player.counted.setdefault(generation, {})
        versions = self._rules[generation].versions
        seen = player.seen.get(generation, 0)
        while seen < len(versions) and versions[seen].board.version <= position:
            if seen and counted:
                layout = Layout(versions[seen - 1].board, *versions[seen])
                if not layout.is_alike:
                    counted = layout.of(counted, player.attributes)
            seen += 1
        player.seen[generation] = seen
        player.counted[generation] = counted
        return counted

    # --- comparing -------------------------------------------------------------------------------

    def _compare(self, player: _Player) -> list[str]:
        lines = []
        for generation in sorted(player.counted.keys() | player.cards.keys()):
            rules = self._rules[generation]
            board = rules.board
            wanted = {
                period: (board.shape.record(entry), sorted(scopes))
                for period, (scopes, entry) in self._counted(player, generation, 1 << 63).items()
                if self._is_retained(board, period)
            }
            found = {}
            for number, entry in split_card(player.cards.get(generation, b""), board.shape).items():
                period = rules.periods[number]
                if self._is_retained(board, period):
                    scopes = rules.scopes[entry_scopes(entry)]
                    found[period] = (entry_record(entry), sorted(scopes))
            name = f"player {player.id!r}" if player.id is not None else f"erased {player.number}"
            lines += [
                f"board {board.id}: the card of {name} is not what its events say"
                f" in {'/'.join(period)}"
                for period in sorted(wanted.keys() | found.keys())
                if wanted.get(period) != found.get(period)
            ]
        return lines

    def _is_retained(self, board: Board, period: PeriodName) -> bool:
        name = (board.generation, period)
        known = self._retained.get(name)
        if known is None:
            known = is_retained(board, Ladder(board.id, *period, GLOBAL), self._now)
            self._retained[name] = known
        return known
