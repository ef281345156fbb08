"""Were concurrent answers right? Histories of writes and reads, and a checker that explains them.

`state` says what a ladder in one state answers, `questions` what can be asked, `history` keeps what
was written and answered with the times of calls and answers, and `checker` looks for states that
explain every answer.
"""

from __future__ import annotations

from toprung.testing.history.checker import Findings, check
from toprung.testing.history.history import History, Read, Receipt, Write
from toprung.testing.history.questions import (
    Around,
    AroundScore,
    Friends,
    Lookup,
    PageAfter,
    Question,
    ScoreRange,
    Spread,
    StandingOf,
    Top,
    Total,
)
from toprung.testing.history.state import LadderState, Rules, Shown

__all__ = [
    "Around",
    "AroundScore",
    "Findings",
    "Friends",
    "History",
    "LadderState",
    "Lookup",
    "PageAfter",
    "Question",
    "Read",
    "Receipt",
    "Rules",
    "ScoreRange",
    "Shown",
    "Spread",
    "StandingOf",
    "Top",
    "Total",
    "Write",
    "check",
]
