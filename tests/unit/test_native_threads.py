"""The native core under many threads: whole answers, progress for readers, no deadlock."""

import contextlib
import random
import struct
import threading
import time
from collections.abc import Callable

from toprung._native import Merge, PlayerTable, RankedSet

PLAYERS = 5000


def run(*works: Callable[[], object], seconds: float = 1.0) -> None:
    """Call each work over and over in a thread of its own; re-raise what any of them raised."""
    end = time.monotonic() + seconds
    errors: list[BaseException] = []

    def loop(work: Callable[[], object]) -> None:
        try:
            while time.monotonic() < end and not errors:
                work()
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=loop, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "deadlock"
    if errors:
        raise errors[0]


def pair_of_sets() -> tuple[PlayerTable, RankedSet, RankedSet]:
    players = PlayerTable()
    players.intern_many([f"p{n}" for n in range(PLAYERS)])
    first = RankedSet(players, words=3, order=2)
    return players, first, RankedSet(players, words=3, order=2)


def test_everything_at_once() -> None:
    players, ranked, other = pair_of_sets()
    rng = random.Random(1)

    def number() -> int:
        return rng.randrange(PLAYERS)

    def some(count: int) -> bytes:
        return struct.pack(f"={count}I", *(number() for _ in range(count)))

    def merge() -> None:
        rows = b"".join(struct.pack("=4q", number(), 0, 1, 1) for _ in range(1000))
        with contextlib.suppress(RuntimeError):  # another thread changed a set in between
            Merge("add", [[ranked, other]], rows, first_version=1).apply()

    def load() -> None:
        RankedSet.load(players, ranked.dump())._check()

    def read() -> None:
        ranked.slice(number(), number())
        ranked.place(f"p{number()}")
        ranked.slice_around(number(), 5, 5)
        assert len(ranked.offsets([f"p{number()}" for _ in range(200)])) == 1600
        ranked.places([number() for _ in range(100)])
        ranked.best_of(some(100), 20)
        numbers, records = ranked.export(0, PLAYERS)
        assert len(records) == 3 * len(numbers)
        players.ids(numbers)

    def write() -> None:
        for _ in range(100):
            ranked.put(number(), rng.randbytes(24))
            ranked.remove(number())
        ranked.put_many(some(500), rng.randbytes(24 * 500))
        ranked.remove_many(some(300))

    def intern() -> None:
        players.intern_many([f"n{rng.randrange(10**9)}" for _ in range(200)])
        players.numbers([f"p{n}" for n in range(200)])

    def short_lived() -> None:
        brief = RankedSet(players, words=1)
        brief.put(number(), bytes(8))
        players.forget(players.intern(f"f{rng.randrange(10**9)}"))

    run(merge, load, read, read, write, intern, short_lived, seconds=2.0)
    ranked._check()
    other._check()
    players._check()


def test_no_reader_sees_half_a_submission() -> None:
    players, first, second = pair_of_sets()
    both = [first, second]
    # The same players on both sets, so one call that looks at both sees the same or nothing new.
    version = 1

    def merge() -> None:
        nonlocal version
        rows = b"".join(struct.pack("=4q", n, 0, 1, 1) for n in range(2000))
        Merge("add", [both], rows, first_version=version).apply()
        version += 2000

    def watch() -> None:
        # A reader holds no lock between two calls, so it can only see the second set newer.
        for n in (0, 1000, 1999):
            a, b = first.find(n), second.find(n)
            if a is not None:
                assert b is not None
                assert struct.unpack(">Q", b[16:]) >= struct.unpack(">Q", a[16:])

    run(merge, watch, watch)
    assert first.dump() == second.dump()
    assert players.limit == PLAYERS


def test_batches_release_the_gil() -> None:
    _, ranked, _ = pair_of_sets()
    numbers = struct.pack(f"={PLAYERS}I", *range(PLAYERS))
    rng = random.Random(2)
    batches = [rng.randbytes(24 * PLAYERS) for _ in range(4)]
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0)

    ticker = threading.Thread(target=tick)
    ticker.start()
    for _ in range(50):
        for batch in batches:
            ranked.put_many(numbers, batch)
    done.set()
    ticker.join()
    assert ticks > 50


def test_a_buffer_that_changes_meanwhile() -> None:
    players, ranked, _ = pair_of_sets()
    numbers = bytearray(struct.pack(f"={PLAYERS}I", *range(PLAYERS)))
    rng = random.Random(3)

    def scribble() -> None:
        at = rng.randrange(PLAYERS) * 4
        numbers[at : at + 4] = rng.randbytes(4)
        numbers[at : at + 4] = struct.pack("=I", rng.randrange(PLAYERS))

    def put() -> None:
        with contextlib.suppress(IndexError, BufferError):
            ranked.put_many(numbers, bytes(24 * PLAYERS))

    def sort() -> None:
        ranked.best_of(numbers, PLAYERS)
        ranked.offsets(numbers)

    def load() -> None:
        dump = bytearray(ranked.dump())
        RankedSet.load(players, dump)

    run(scribble, put, sort, load)
    ranked._check()


def test_a_list_that_changes_meanwhile() -> None:
    _, ranked, _ = pair_of_sets()
    ids = [f"p{n}" for n in range(PLAYERS)]

    def scribble() -> None:
        ids.pop()
        ids.append("x" * 200)
        ids.clear()
        ids.extend(f"p{n}" for n in range(1000))

    run(scribble, lambda: ranked.offsets(ids))


def test_many_rows_are_exported_of_one_moment() -> None:
    count = 20_000  # more than are copied with the GIL, in many chunks
    players = PlayerTable()
    everybody = players.intern_many([f"p{n}" for n in range(count)])
    ranked = RankedSet(players, words=1)
    batches = iter(range(1, 2**32))

    def write() -> None:
        ranked.put_many(everybody, next(batches).to_bytes(8, "big") * count)

    def export() -> None:
        numbers, records = ranked.export(0, count)
        assert records == records[:8] * (len(numbers) // 8)
        ranked.place(7)

    write()
    run(write, export, export, lambda: ranked.place(7))
    ranked._check()
