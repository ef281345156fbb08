"""Every request that the reference describes, by subject."""

from typing import Final

from tests.http.recorded.asking import Scene
from tests.http.recorded.scenes.access import ACCESS, KEYS, LIMITS, LOCAL
from tests.http.recorded.scenes.audit import AUDIT, AUDIT_KEYS
from tests.http.recorded.scenes.boards import BOARDS, RULES
from tests.http.recorded.scenes.ladders import ENDINGS, MOVEMENT, SCOPES, TIES, WINDOWS
from tests.http.recorded.scenes.players import (
    EVERYWHERE,
    EXPORT,
    FRIENDS,
    HISTORY,
    LIVE_MOVEMENT,
    MODERATION,
    NAMES,
    PROFILES,
)
from tests.http.recorded.scenes.review import REVIEW
from tests.http.recorded.scenes.scores import BATCHES, POLICIES, REFUSED, RUNS, SUBMITTING
from tests.http.recorded.scenes.service import ROUTING, STATE, WEBHOOKS
from tests.http.recorded.scenes.standings import PAGES, STANDING, TOGETHER, WRONG_PAGES

SCENES: Final[list[Scene]] = [
    BOARDS,
    RULES,
    SUBMITTING,
    REFUSED,
    BATCHES,
    POLICIES,
    RUNS,
    PAGES,
    WRONG_PAGES,
    STANDING,
    TOGETHER,
    WINDOWS,
    ENDINGS,
    MOVEMENT,
    SCOPES,
    TIES,
    PROFILES,
    NAMES,
    FRIENDS,
    EVERYWHERE,
    EXPORT,
    MODERATION,
    REVIEW,
    HISTORY,
    LIVE_MOVEMENT,
    KEYS,
    ACCESS,
    LOCAL,
    LIMITS,
    ROUTING,
    STATE,
    WEBHOOKS,
    AUDIT,
    AUDIT_KEYS,
]
