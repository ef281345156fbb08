"""Acts of administration: what was done, who did it, and why.

An event that somebody brought about by hand says so in `by`, so that the act is recorded with what
came of it, or not at all. What is no event by itself, such as a new access key, is `Acted`.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import msgspec

from toprung.domain.trust.actor import Actor
from toprung.domain.values import parse_text
from toprung.errors import Invalid

REASON_MAX: Final = 500
SUBJECT_MAX: Final = 200

ActName = Literal[
    "board.create",
    "board.replace",
    "board.patch",
    "board.delete",
    "player.erase",
    "player.remove",
    "player.restrict",
    "player.lift",
    "submission.revoke",
    "submission.decide",
    "period.close",
    "period.settle",
    "period.amend",
    "key.create",
    "key.edit",
    "key.rotate",
    "key.revoke",
    "webhook.set",
    "webhook.delete",
    "follower.rebuild",
]


class By(msgspec.Struct, frozen=True):
    """Who acts, and why."""

    actor: Actor
    reason: str = ""


LIBRARY: Final = By(Actor("library"))
"""A program that opened the database and said nothing else."""


class Act(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an event says of the act that it comes of."""

    name: str
    actor: str
    """The kind of the actor."""
    id: str = ""
    """The actor's id; of a player none, because events name players by number."""
    reason: str = ""


class ActRow(NamedTuple):
    """By what an act is found."""

    position: int
    recorded_at: int
    actor: str
    """The kind of the actor, a colon, its id."""
    board: str | None
    player: int | None


def actor_text(kind: str, actor_id: str) -> str:
    """An actor as one text.

    >>> actor_text("key", "abcd2345"), actor_text("cli", "")
    ('key:abcd2345', 'cli:')
    """
    return f"{kind}:{actor_id}"


def act_of(name: ActName, by: By) -> Act:
    """What is recorded of an act.

    >>> act_of("key.create", By(Actor("key", "abcd2345"), "rotation")).actor
    'key'
    """
    actor = by.actor
    return Act(name, actor.kind, "" if actor.kind == "player" else actor.id, by.reason)


def parse_act_reason(value: object) -> str:
    """Why somebody acts, in one line; empty if nobody says.

    >>> parse_act_reason("cheated\\nagain")
    Traceback (most recent call last):
    toprung.errors.Invalid: reason: must not contain control characters
    """
    text = parse_text(value, "reason").strip()
    if len(text) > REASON_MAX:
        raise Invalid("reason", f"must have at most {REASON_MAX} characters")
    if any(ord(each) < 0x20 or 0x7F <= ord(each) < 0xA0 for each in text):
        raise Invalid("reason", "must not contain control characters")
    if any(0xD800 <= ord(each) < 0xE000 for each in text):
        raise Invalid("reason", "must be valid Unicode")
    return text
