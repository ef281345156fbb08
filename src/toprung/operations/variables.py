"""What may stand in the variable segments of addresses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from toprung.domain.background import parse_follower
from toprung.domain.board import parse_board_id
from toprung.domain.player import PLAYER_ID_BYTES_MAX, check_text, parse_player
from toprung.domain.trust.log import parse_submission_id
from toprung.domain.webhooks import parse_webhook_id

ID_BYTES_MAX: Final = 64
_ID: Final = {"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$"}
_PLAYER: Final = {"type": "string", "minLength": 1, "maxLength": PLAYER_ID_BYTES_MAX}
_TEXT: Final = {"type": "string", "minLength": 1, "maxLength": ID_BYTES_MAX}


class Variable(NamedTuple):
    """A variable segment."""

    description: str
    schema: dict[str, Any]
    example: str
    parse: Callable[[object], str]
    """Refuses, before it is sent, what cannot be one."""
    works: bool = True
    """Whether the example can be tried; what only the service can name cannot."""

    def document(self) -> dict[str, Any]:
        """The variable in the OpenAPI document; pages that try it fill in an `example`."""
        schema = self.schema | {"examples": [self.example]}
        found: dict[str, Any] = {"description": self.description, "schema": schema}
        return found | ({"example": self.example} if self.works else {})


VARIABLES: Final[dict[str, Variable]] = {
    "board": Variable("A board's id.", _ID, "blitz", parse_board_id),
    "player": Variable(
        "A player's id: 1-128 bytes of UTF-8, no control characters, slashes or backslashes.",
        _PLAYER,
        "alice",
        parse_player,
    ),
    "other": Variable("Another player's id.", _PLAYER, "bob", partial(parse_player, field="other")),
    "window": Variable(
        "The name of a window.",
        _TEXT,
        "daily",
        partial(check_text, bytes_max=ID_BYTES_MAX, field="window"),
    ),
    "period": Variable(
        "A period's id, as in the list of periods.",
        _TEXT,
        "2026-11-15",
        partial(check_text, bytes_max=ID_BYTES_MAX, field="period"),
        works=False,
    ),
    "submission": Variable(
        "A submission's id.",
        {"type": "string", "pattern": "^[1-9][0-9]{0,18}$"},
        "4711",
        parse_submission_id,
        works=False,
    ),
    "key": Variable(
        "A key's id.",
        _TEXT,
        "mfzwizlr",
        partial(check_text, bytes_max=ID_BYTES_MAX, field="key"),
        works=False,
    ),
    "follower": Variable("A follower's name.", _TEXT, "activity", parse_follower),
    "webhook": Variable("A webhook's id.", _ID, "chat", parse_webhook_id),
    "message": Variable(
        "A message's id.",
        _TEXT,
        "msg_2x637tlsjcdqrxoyx5atoomfvets4wo2",
        partial(check_text, bytes_max=ID_BYTES_MAX, field="message"),
        works=False,
    ),
}
