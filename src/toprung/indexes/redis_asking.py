"""Asking shards together: questions that wait at the same time share a script call.

Theory of operation. A question waits in the queue of its shard until the end of the round of the
event loop; then all that wait are sent in one call of `lua/ask.lua`. Few calls per shard are under
way at a time, so whatever is asked meanwhile makes up the next one: the busier a shard is, the more
questions share a call, and a lone question is sent at once. The script does a bounded amount of
work and may answer fewer questions than it was asked; the rest is asked again, before all others.

A call that fails concerns the questions in it: each of them is told. A question that fails by
itself concerns nobody else, and neither does a caller who does not wait any longer. Questions that
may scan a ladder for distinct results have a queue of their own, and so have those about many
players or rows: others need not wait for them.
"""

from __future__ import annotations

import asyncio
import copy
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from toprung.domain.board import Board
from toprung.errors import Closed, NotReady, Overloaded
from toprung.indexes.redis_client import ScriptClient
from toprung.indexes.redis_distinct import UNITS_PER_SCRIPT
from toprung.waiting.pending import Pending, resolve_all

CALLS_PER_QUEUE = 2
"""Calls under way: the server works on one while the answers to the other are read. Of large
questions there is one."""

LARGE_COST = 400
"""Rows from which on a question is a large one; a player or a key counts as 40."""

QUESTIONS_PER_CALL = 200
WORDS_PER_CALL = 2_000
"""Of questions, before no further one is sent along."""

WAITING_MAX = 10_000
"""Questions that may wait for a call to one shard; more are refused."""

ROWS_PER_SCRIPT = 400
CARD_BYTES_PER_READ = 1_000_000
"""Bytes of cards that a script reads before no further card: one may have thousands of entries."""


class LadderWords(NamedTuple):
    """A ladder as `lua/ask.lua` is told of it."""

    period: str
    scope: str
    width: int
    order: int
    tied: int
    how: str
    """How distinct results are counted: `set`, `scan`, or not at all."""
    distinct_max: int


class Question(Pending[Any]):
    """A question about a ladder; awaiting it gives the answer."""

    __slots__ = ("changes", "kind", "ladder", "words")

    changes: int
    """How often the shard had changed when it was answered."""

    def __init__(self, ladder: LadderWords, kind: str, words: Sequence[str | bytes | int]) -> None:
        super().__init__()
        self.ladder = ladder
        self.kind = kind
        self.words = words

    @property
    def lane(self) -> str:
        """Which queue of its shard it waits in."""
        if self.ladder.how == "scan":
            return "scan"
        words, kind = self.words, self.kind
        if kind in ("places", "records", "counts"):
            cost = 40 * len(words)
        elif kind == "range":
            cost = int(words[1]) - int(words[0])
        else:  # an id or a point, then rows
            cost = sum(int(word) for word in words[1:3])
        return "large" if cost > LARGE_COST else "small"


class _Queue:
    """Questions about one shard that wait for a call."""

    __slots__ = ("board", "calls", "calls_max", "is_due", "waiting")

    def __init__(self, board: Board, calls_max: int) -> None:
        self.board = board
        self.calls_max = calls_max
        self.waiting: deque[Question] = deque()
        self.calls = 0
        """Those under way."""
        self.is_due = False
        """Whether a call is about to be made."""

    def take(self) -> list[Question]:
        """The questions of the next call: not too many words, and none that nobody waits for."""
        taken: list[Question] = []
        words, waiting = 0, self.waiting
        while waiting and len(taken) < QUESTIONS_PER_CALL and words < WORDS_PER_CALL:
            question = waiting.popleft()
            if question.is_abandoned:
                continue
            words += len(question.words)
            taken.append(question)
        return taken


class Asker:
    """Puts questions to shards."""

    def __init__(
        self,
        client: ScriptClient,
        key_of: Callable[[int], str],
        on_not_ready: Callable[[Board], None],
    ) -> None:
        """`key_of` tells the key of a generation's shard."""
        self._client = client
        self._key_of = key_of
        self._on_not_ready = on_not_ready
        self._queues: dict[tuple[int, str], _Queue] = {}
        self._calls: set[asyncio.Task[None]] = set()

    def ask(self, board: Board, question: Question) -> Question:
        """Have a question answered that is about a ladder of a board."""
        name = (board.generation, question.lane)
        queue = self._queues.get(name)
        if queue is None:
            calls_max = 1 if question.lane == "large" else CALLS_PER_QUEUE
            queue = self._queues[name] = _Queue(board, calls_max)
        if len(queue.waiting) >= WAITING_MAX:
            raise Overloaded("too many questions are waiting for the index")
        queue.waiting.append(question)
        if not queue.is_due and queue.calls < queue.calls_max:
            self._make_due(name, queue)
        return question

    async def close(self) -> None:
        """Wait until no call is under way; none takes long."""
        while self._calls:
            await asyncio.wait(self._calls)

    def _make_due(self, name: tuple[int, str], queue: _Queue) -> None:
        queue.is_due = True
        asyncio.get_running_loop().call_soon(self._send, name, queue)

    def _send(self, name: tuple[int, str], queue: _Queue) -> None:
        queue.is_due = False
        questions = queue.take()
        if not questions:
            self._drop_if_idle(name, queue)
            return
        queue.calls += 1
        task = asyncio.create_task(self._call(name, queue, questions))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _call(self, name: tuple[int, str], queue: _Queue, questions: list[Question]) -> None:
        answered = len(questions)
        try:
            answered = await self._answer(queue.board, questions)
        except asyncio.CancelledError:
            resolve_all((question, Closed()) for question in questions)
            raise
        except Exception as error:  # noqa: BLE001 -- whatever it is, all who asked are told
            if isinstance(error, NotReady):
                self._on_not_ready(queue.board)
            resolve_all((question, _once_more(error)) for question in questions)
        finally:
            queue.calls -= 1
            queue.waiting.extendleft(reversed(questions[answered:]))
            if queue.waiting and not queue.is_due:
                self._make_due(name, queue)
            self._drop_if_idle(name, queue)

    def _drop_if_idle(self, name: tuple[int, str], queue: _Queue) -> None:
        if not (queue.waiting or queue.calls) and self._queues.get(name) is queue:
            del self._queues[name]

    async def _answer(self, board: Board, questions: Sequence[Question]) -> int:
        """Tell those who asked what the script answers; how many it has answered."""
        ladders: dict[LadderWords, int] = {}
        words: list[str | bytes | int] = []
        last, number = None, 0
        for each in questions:
            if each.ladder is not last:  # usually all are about one, and hashing it takes a while
                last = each.ladder
                number = ladders.setdefault(last, len(ladders) + 1)
            words += (each.kind, number, len(each.words), *each.words)
        changes, *answers = await self._client.read(
            "ask",
            self._key_of(board.generation),
            UNITS_PER_SCRIPT,
            CARD_BYTES_PER_READ,
            ROWS_PER_SCRIPT,
            len(ladders),
            *(word for ladder in ladders for word in ladder),
            *words,
        )
        for question in questions[: len(answers)]:
            question.changes = changes
        resolve_all(zip(questions, answers, strict=False))
        return len(answers)


def _once_more(error: Exception) -> Exception:
    """The same error for another one who waits: each is raised with a trace of its own."""
    another = copy.copy(error)
    another.__cause__ = error.__cause__ or error
    return another
