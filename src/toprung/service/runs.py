"""Starting runs: what players' programs sign their scores with."""

from __future__ import annotations

import secrets

from toprung.domain.instant import instant_text
from toprung.domain.player import parse_player
from toprung.domain.trust.runs import NONCE_BYTES, Run
from toprung.service.board_access import BoardAccess


class BoardRuns(BoardAccess):
    """Runs on one board."""

    __slots__ = ()

    async def run(self, player: str) -> Run:
        """Start a run: return what the player's next score on this board is signed with.

        Nothing is recorded. The run can be used for one score of this player, until it expires.
        """
        board = await self._journal.board(self.id)
        player_id = parse_player(player)
        ring = await self._parts.runs.ring(wanted=True)
        nonce = secrets.token_bytes(NONCE_BYTES)
        text, key, expires_at = ring.start(board, player_id, self._clock.now(), nonce)
        return Run(text, key.hex(), instant_text(expires_at))
