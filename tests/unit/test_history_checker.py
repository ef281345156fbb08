"""The checker of histories: it accepts what can be explained, and rejects what cannot."""

from __future__ import annotations

import random
from math import inf

import pytest

from toprung.testing.history import (
    Around,
    AroundScore,
    Friends,
    History,
    LadderState,
    Lookup,
    PageAfter,
    Question,
    Read,
    Receipt,
    Rules,
    ScoreRange,
    Spread,
    StandingOf,
    Top,
    Total,
    check,
)
from toprung.testing.history import checker as checker_module
from toprung.testing.history.state import Result

NOWHERE: frozenset[str] = frozenset()


def written(
    history: History,
    player: str,
    score: int | None,
    called: float,
    answered: float,
    scopes: frozenset[str] = NOWHERE,
) -> None:
    at = sum(map(len, history.chains.values()))
    result = None if score is None else Result(score, at)
    history.write(player, result, scopes, called).answered = answered


def begun(*scores: tuple[str, int], rules: Rules | None = None) -> History:
    """A ladder that these players have been on for a long time."""
    history = History(rules or Rules())
    for player, score in scores:
        written(history, player, score, -2.0, -1.0)
    return history


def state(history: History, **versions: int) -> LadderState:
    """The ladder with these versions, and the newest ones of everybody else."""
    found = {}
    for player, chain in history.chains.items():
        version = versions.get(player, len(chain))
        if version and chain[version - 1].result is not None:
            found[player] = chain[version - 1].result
    return LadderState(history.rules, {p: result for p, result in found.items() if result})


def asked(history: History, question: Question, span: tuple[float, float], **versions: int) -> None:
    """A read that was answered as the ladder is with these versions."""
    answer = question.answer(state(history, **versions))
    history.reads.append(Read(question, *span, answer))


def is_right(history: History) -> bool:
    findings = check(history)
    assert findings.undecided == 0
    assert findings.explained + len(findings.violations) >= len(history.reads)
    return not findings.violations


QUESTIONS: list[Question] = [
    StandingOf("ann"),
    Lookup(("ann", "bob")),
    Top(10),
    Around("ann", 1, 1),
    AroundScore(15, 2, 2),
    Friends("ann", ("bob",), 10),
    ScoreRange(10, 0, 100),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_read_during_a_write_may_see_either_state(question: Question) -> None:
    for version in (1, 2):
        history = begun(("ann", 10), ("bob", 20))
        written(history, "ann", 30, 1.0, 3.0)
        asked(history, question, (2.0, 2.5), ann=version)
        assert is_right(history)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_stale_read_is_rejected(question: Question) -> None:
    """What was acknowledged before the call has to be seen: also a lost write of one's own."""
    history = begun(("ann", 10), ("bob", 20))
    written(history, "ann", 30, 1.0, 3.0)
    asked(history, question, (3.5, 4.0), ann=1)
    assert not is_right(history)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_read_from_the_future_is_rejected(question: Question) -> None:
    history = begun(("ann", 10), ("bob", 20))
    written(history, "ann", 30, 3.0, 4.0)
    asked(history, question, (1.0, 2.0), ann=2)
    assert not is_right(history)


def test_an_answer_may_be_as_old_as_the_documentation_says() -> None:
    for lag, right in ((0.0, False), (1.0, True)):
        history = begun(("ann", 10))
        written(history, "ann", 30, 1.0, 3.0)
        answer = Top(10).answer(state(history, ann=1))
        history.reads.append(Read(Top(10), 3.5, 4.0, answer, lag=lag))
        assert is_right(history) is right


def test_a_rank_from_a_mixed_state_is_rejected() -> None:
    """The score is the new one, the rank or the total that of the old state."""
    for change in ({"rank": 2}, {"total": 3}, {"percentile": 0.0}, {"top_percent": 100.0}):
        history = begun(("ann", 10), ("bob", 20))
        written(history, "ann", 30, 1.0, 3.0)
        (shown,) = StandingOf("ann").answer(state(history)) or []
        wrong = shown._replace(**change)
        history.reads.append(Read(StandingOf("ann"), 2.0, 2.5, [wrong]))
        assert not is_right(history)


def test_a_page_that_mixes_two_moments_is_rejected() -> None:
    """One writer: ann moved before bob did, and a page has bob's new and ann's old entry."""
    history = begun(("ann", 10), ("bob", 20), ("cy", 5))
    written(history, "ann", 30, 1.0, 2.0)
    written(history, "bob", 40, 2.5, 3.5)
    asked(history, Top(10), (0.5, 4.0), ann=1, bob=2)
    assert not is_right(history)
    history.reads.clear()
    for versions in ({"ann": 1, "bob": 1}, {"ann": 2, "bob": 1}, {"ann": 2, "bob": 2}):
        asked(history, Top(10), (0.5, 4.0), **versions)
        assert is_right(history)
        history.reads.clear()


def test_writes_at_the_same_time_may_be_seen_in_either_order_but_only_one() -> None:
    history = begun(("ann", 10), ("bob", 20))
    written(history, "ann", 30, 1.0, 4.0)
    written(history, "bob", 40, 1.0, 4.0)
    asked(history, Top(10), (1.5, 2.0), ann=2, bob=1)
    assert is_right(history)
    asked(history, Top(10), (2.5, 3.0), ann=1, bob=2)
    assert not is_right(history)


def test_what_was_seen_once_does_not_disappear() -> None:
    history = begun(("ann", 10), ("bob", 20))
    written(history, "ann", 30, 1.0, 5.0)
    asked(history, StandingOf("ann"), (1.5, 2.0), ann=2)
    asked(history, Total(), (2.1, 2.2))
    asked(history, StandingOf("ann"), (2.5, 3.0), ann=1)
    assert not is_right(history)


def test_a_row_that_is_missing_or_twice_there_is_rejected() -> None:
    history = begun(("ann", 10), ("bob", 20))
    rows = Top(10).answer(state(history))
    for wrong in (rows[:1], [*rows, rows[0]], rows[::-1], []):
        history.reads = [Read(Top(10), 1.0, 2.0, wrong)]
        assert not is_right(history)
    history.reads = [Read(Total(), 1.0, 2.0, 3)]
    assert not is_right(history)


def test_a_player_who_left_is_on_no_page() -> None:
    history = begun(("ann", 10), ("bob", 20))
    written(history, "ann", None, 1.0, 2.0)
    asked(history, StandingOf("ann"), (3.0, 4.0))
    asked(history, Lookup(("ann", "bob")), (3.0, 4.0))
    assert is_right(history)
    asked(history, StandingOf("ann"), (3.0, 4.0), ann=1)
    assert not is_right(history)


def test_scopes_have_ladders_of_their_own() -> None:
    history = History(Rules())
    written(history, "ann", 10, 0.0, 0.5, frozenset({"country:PT"}))
    history.write("ann", Result(10, 0), frozenset({"country:ES"}), 1.0).answered = 2.0
    for question, total in ((Total(scope="country:PT"), 0), (Total(scope="country:ES"), 1)):
        history.reads = [Read(question, 3.0, 4.0, total)]
        assert is_right(history)
        history.reads = [Read(question, 3.0, 4.0, 1 - total)]
        assert not is_right(history)


def test_a_write_of_which_nobody_knows_when_it_arrives() -> None:
    """Acknowledged as stale: it may be seen at any time, but not be gone again, nor come after
    everything has settled."""
    history = begun(("ann", 10), ("bob", 20))
    written(history, "ann", 30, 1.0, inf)
    asked(history, StandingOf("ann"), (5.0, 6.0), ann=1)
    asked(history, StandingOf("ann"), (8.0, 9.0), ann=2)
    assert is_right(history)
    history.settled(10.0)
    asked(history, StandingOf("ann"), (11.0, 12.0), ann=1)
    assert not is_right(history)


def told(rank: int | None, previous: int | None, score: int, before: int | None) -> Receipt:
    return Receipt(rank, previous, 2, score, before)


def test_receipts() -> None:
    """Right: ranks of before and after, of one state each; a previous rank may be forgotten."""

    def received(receipt: Receipt, *, may_forget: bool = False) -> bool:
        history = begun(("ann", 10), ("bob", 20))
        written(history, "ann", 30, 1.0, 3.0)
        history.receipt("ann", (1, 2), receipt, (1.0, 3.0), may_forget=may_forget)
        return is_right(history)

    assert received(told(1, 2, 30, 10))
    assert received(told(1, None, 30, 10), may_forget=True)
    assert not received(told(1, None, 30, 10))
    assert not received(told(1, 1, 30, 10), may_forget=True)
    assert not received(told(2, 2, 30, 10))
    assert not received(told(1, 2, 30, None))
    assert not received(told(1, 2, 31, 10))
    assert not received(told(1, 2, 30, 10)._replace(total=3))


def test_a_receipt_may_know_of_what_others_did_meanwhile() -> None:
    for called, right in ((2.0, True), (3.5, False)):
        history = begun(("ann", 10), ("bob", 20))
        written(history, "ann", 30, 1.0, 3.0)
        written(history, "bob", 40, called, 5.0)
        history.receipt("ann", (1, 2), told(2, 2, 30, 10), (1.0, 3.0))
        assert is_right(history) is right


def test_a_receipt_of_a_shared_player_has_ranks_of_before_and_since() -> None:
    """Versions 2 and 3 of ann share a commit: the ranks are those of versions 1 and 3."""

    def received(receipt: Receipt) -> bool:
        history = begun(("ann", 10), ("bob", 25))
        written(history, "ann", 20, 1.0, 3.0)
        written(history, "ann", 30, 1.0, 3.0)
        history.receipt("ann", (2, 3), receipt, (1.0, 3.0), is_loose=True)
        return is_right(history)

    assert received(told(1, 2, 30, 20))
    assert not received(told(2, 2, 30, 20))
    assert not received(told(1, 1, 30, 20))
    assert not received(told(1, None, 30, 20))


def test_counts_of_a_distribution_are_of_one_state_even_if_its_ends_are_not() -> None:
    history = begun(("ann", 10), ("bob", 20), ("cy", 29))
    written(history, "bob", 12, 1.0, 4.0)
    written(history, "cy", 49, 1.0, 4.0)
    both = [[(10, 19, 1), (20, 29, 2)], [(10, 19, 2), (20, 29, 1)],
            [(10, 29, 3), (30, 49, 0)], [(10, 29, 2), (30, 49, 1)],
            [(10, 19, 2), (20, 29, 0)]]  # fmt: skip
    for answer in both:
        history.reads = [Read(Spread(2), 2.0, 3.0, answer)]
        assert is_right(history)
    for wrong in ([(10, 19, 3), (20, 29, 0)], [(10, 29, 1), (30, 49, 2)], [(9, 18, 2)], []):
        history.reads = [Read(Spread(2), 2.0, 3.0, wrong)]
        assert not is_right(history)


def test_the_page_after_begins_where_the_one_before_ended() -> None:
    history = begun(("ann", 10), ("bob", 20), ("cy", 15))
    question = PageAfter(5, "bob", Result(20, 1))
    asked(history, question, (1.0, 2.0))
    assert [row.player for row in history.reads[0].answer] == ["cy", "ann"]
    assert is_right(history)
    history.reads = [Read(question, 1.0, 2.0, history.reads[0].answer[1:])]
    assert not is_right(history)


def test_with_one_writer_states_do_not_go_back_even_where_each_answer_is_ambiguous() -> None:
    """Total 1, 2, 1, 2: reads that are each right, but 2 before 1 needs states in another order."""
    history = begun(("ann", 10))
    written(history, "bob", 5, 1.0, 2.0)
    written(history, "bob", None, 3.0, 4.0)
    written(history, "bob", 6, 5.0, 6.0)
    for called, total in ((0.2, 1), (0.3, 2), (0.4, 1), (0.5, 2)):
        history.reads.append(Read(Total(), called, called + 0.05 + 6, total))
    assert is_right(history)  # all at once
    history.reads = [
        Read(Total(), 0.5, 3.5, 2),
        Read(Total(), 3.6, 5.5, 1),
        Read(Total(), 5.6, 5.7, 2),
        Read(Total(), 5.8, 7.0, 1),
    ]
    assert not is_right(history)


def test_ties_and_rankings() -> None:
    rules = Rules("asc", "last", "dense")
    history = begun(("ann", 10), ("bob", 10), ("cy", 12), rules=rules)
    ladder = state(history)
    assert ladder.players == ["bob", "ann", "cy"]
    assert [ladder.rank(p) for p in ladder.players] == [1, 1, 2]
    assert [ladder.rank(p, "competition") for p in ladder.players] == [1, 1, 3]
    assert ladder.shown("bob").percentile == pytest.approx(100 / 3)


def test_too_many_choices_are_undecided_and_not_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker_module, "CHOICES_MAX", 10)
    history = begun(*((f"p{n}", n) for n in range(8)))
    for number in range(8):
        written(history, f"p{number}", 100 + number, 1.0, 5.0)
    asked(history, Total(), (2.0, 3.0))
    assert check(history).undecided == 1


@pytest.mark.parametrize("seed", range(20))
def test_any_history_of_a_real_ladder_is_right_and_none_with_a_wrong_answer(seed: int) -> None:
    """Writes take effect at random moments of their spans, reads are answered at random ones."""
    print(f"seed {seed}")
    chance = random.Random(seed)
    history = begun(*((f"p{n}", n) for n in range(6)))
    effects: list[tuple[float, str]] = []
    for writer in range(3):
        now = 0.0
        for _ in range(20):
            player = f"p{chance.choice((writer, writer + 3))}"
            span = (now, now + chance.random())
            score = None if chance.random() < 0.2 else chance.randrange(8)
            before = history.version(player)
            written(history, player, score, *span)
            if history.version(player) > before:
                effects.append((chance.uniform(*span), player))
            now = span[1] + chance.random() / 10
    for _ in range(60):
        called = 10 * chance.random()
        span = (called, called + chance.random())
        moment = chance.uniform(*span)
        versions = {f"p{n}": 1 for n in range(6)}
        for effect, player in effects:
            versions[player] += effect <= moment
        question = chance.choice([Top(9), Top(3), Total(), Lookup(("p1", "p4")), Spread(3),
                                  StandingOf("p2"), Around("p3", 1, 1)])  # fmt: skip
        asked(history, question, span, **versions)
    assert is_right(history)
    pages = [read for read in history.reads if read.question == Top(9) and read.answer]
    read = chance.choice(pages)
    first, *others = read.answer
    for wrong in ([first._replace(rank=2), *others], [first._replace(total=9), *others], others):
        history.reads = [Read(read.question, read.called, read.answered, wrong)]
        assert not is_right(history)
