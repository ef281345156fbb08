"""Messages: what is kept of one until it leaves, and what it says when it does.

A message about a leader is kept with the numbers of players, as all that is derived from the
journal is. Ids and names are put in when it is sent, so neither of an erased player can leave, or
stay in a list of deliveries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from toprung.domain.effects import Effect
from toprung.domain.instant import instant_datetime
from toprung.domain.ladder import Ladder
from toprung.domain.player_numbers import PlayerNumber, renumbered_value
from toprung.domain.score import number_text, score_value
from toprung.domain.webhooks import (
    EVERY_EVENT,
    LEADER_CHANGED,
    MESSAGE,
    OF_BOARDS,
    Webhook,
    message_id,
    payload,
)
from toprung.ports import NAMELESS, Journal


class Leading(msgspec.Struct, frozen=True, array_like=True):
    """Who leads a ladder, and with what."""

    player: PlayerNumber
    score: int
    subscore: int | None
    achieved_at: int


class LeaderDraft(msgspec.Struct, frozen=True, array_like=True):
    """A message about a leader, as it is kept."""

    at: int
    ladder: tuple[str, str, str, str]
    decimals: int
    leader: Leading | None
    previous: Leading | None


_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(LeaderDraft).decode


def leader_message(webhook: Webhook, cause: str, draft: LeaderDraft) -> Effect:
    """A ladder has another leader; it goes when that one is erased.

    Its id depends on what it tells, and when: a walk may meet the same ladder several times.
    """
    body = _pack(draft)
    return Effect(
        message_id(webhook.nonce, f"{LEADER_CHANGED} {cause} {body.hex()}"),
        MESSAGE,
        webhook.id,
        LEADER_CHANGED,
        body,
        player=None if draft.leader is None else draft.leader.player,
        other=None if draft.previous is None else draft.previous.player,
    )


def plain_message(
    webhook: Webhook,
    cause: str,
    event: str,
    at: int,
    data: dict[str, Any],
    *,
    is_brief: bool = False,
) -> Effect:
    """A message that says all there is to say already."""
    return Effect(
        message_id(webhook.nonce, f"{event} {cause}"),
        MESSAGE,
        webhook.id,
        event,
        payload(event, at, data),
        is_brief=is_brief,
    )


def renumbered_message(event: str, body: bytes, number_of: Callable[[int], int]) -> bytes:
    """A message as it is kept where players have other numbers."""
    if event != LEADER_CHANGED or not body:
        return body
    return _pack(renumbered_value(_unpack(body), LeaderDraft, number_of))


def is_still_for(webhook: Webhook, effect: Effect) -> bool:
    """Whether a webhook, as it is now, is told such a message.

    It may have been narrowed since the message was written, and then be managed by somebody who
    must not be told of other boards.
    """
    if effect.type not in webhook.events and EVERY_EVENT not in webhook.events:
        return False
    if effect.type == LEADER_CHANGED and effect.body:
        return webhook.is_for(_unpack(effect.body).ladder[0])
    if effect.type in OF_BOARDS and effect.body:
        return webhook.is_for(msgspec.json.decode(effect.body)["data"]["board"])
    return True


async def rendered(effect: Effect, journal: Journal) -> bytes | None:
    """The body of a message as it leaves; None if its player was erased, or it was dropped."""
    if effect.type != LEADER_CHANGED or not effect.body:
        return effect.body or None
    draft = _unpack(effect.body)
    numbers = [each.player for each in (draft.leader, draft.previous) if each is not None]
    ids = await journal.ids(numbers)
    if draft.leader is not None and draft.leader.player not in ids:
        return None
    names = await journal.names([*ids.values()])

    def shown(leading: Leading | None) -> dict[str, Any] | None:
        if leading is None:
            return None
        player = ids.get(leading.player)
        return {
            "player": player,
            "name": None if player is None else names.get(player, NAMELESS)[0],
            "score": msgspec.Raw(number_text(score_value(leading.score, draft.decimals)).encode()),
            "subscore": leading.subscore,
            "achieved_at": instant_datetime(leading.achieved_at),
        }

    where = dict(zip(Ladder._fields, draft.ladder, strict=True))
    told = {"leader": shown(draft.leader), "previous": shown(draft.previous)}
    return payload(effect.type, draft.at, where | told)
