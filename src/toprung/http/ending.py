"""How a connection ends, and what keeps it: not before the answers that are due, and not for ever.

What is wrong with a request ends its connection (`_end`): at once, if the reason is the answer to
that request; else when all that came whole before it is answered. A caller who sends no more gets
its answers, too. Streams may have no end, so they are not waited for.

Nothing is received while there is enough to do. Only behind a stream reading goes on, to see that
the caller has gone; what it sends must be short.

The server looks at all connections now and then (`give_up`), so that a request which arrives at
once, as nearly all do, pays nothing for limits of time.
"""

from __future__ import annotations

from typing import Any, Final

from toprung.http.exchange import Exchange
from toprung.http.framing import HEAD_TOO_SLOW
from toprung.http.problems import Refused, problem
from toprung.http.reading import Reading
from toprung.http.transport import Joined
from toprung.http.underway import Underway

READ_SECONDS_MAX: Final = 60.0
"""For a caller to take anything at all of an answer that waits for it."""
BEHIND_STREAM_BYTES_MAX: Final = 16 * 1024
"""Sent behind a request that is answered with a stream: nobody does so who waits for its end."""


class Ending(Reading):
    """A connection as far as it ends."""

    transport: Joined
    served: Exchange | Underway | None = None
    """The request that is being answered."""
    _incoming: Exchange | None = None
    """The last request that is served as ASGI, whose body may be arriving."""
    _held: list[bytes] | None = None
    """The body so far of a request that may yet prove to have arrived whole."""
    _is_dropped = False
    """Whether the request that is being read is answered, refused or too late."""
    _is_refused = False
    """Whether nothing more is parsed: the connection ends when all before is answered."""
    _is_ending = False
    """Whether that is so, or the caller sends no more."""
    _last_words: Refused | None = None
    """What is said at the end."""
    _seen = (0, False, 0.0)
    """`_heads` and `_is_begun` at the last looks, and since when they have been that."""
    _unsent = (0, 0.0)
    """The bytes that the caller does not take, and since when it has been that many."""

    _app: Any
    _config: Any
    _state: Any

    # --- the end ----------------------------------------------------------------------------------

    def _is_over(self) -> bool:
        return self._is_refused or self.transport.is_closing()

    def _drop_unended(self) -> None:
        """Have the request that is being read, and will never be whole, not wait for its turn."""
        if self.pipeline and self.pipeline[-1].more_body:
            self.pipeline.pop()

    def _is_done(self) -> bool:
        """Whether every request that is whole was answered."""
        if self.pipeline or self._unread:
            return False
        return self.served is None or (isinstance(self.served, Exchange) and self.served.more_body)

    def _close_if_done(self) -> None:
        if self._is_ending and self._is_done() and not self.transport.is_closing():
            if self._last_words is not None:
                self._say(self._last_words, counts=True)
            self.transport.close()

    def _end(self, reason: Refused | None, *, counts: bool = True) -> None:
        """Say why, unless another answer is due first; and close.

        `counts`: as a request of the caller's address, like those that are refused later.
        """
        self._held = None
        if self._is_over():
            return
        may_refuse = self._may_refuse()
        if not (may_refuse or self._is_streaming()):  # others that came whole wait for an answer
            self._is_refused = self._is_ending = True
            self._last_words = reason
            self._drop_unended()
            self.flow.pause_reading()
            return
        if reason is not None and may_refuse:
            self._say(reason, counts=counts)
        self.transport.close()

    def _may_refuse(self) -> bool:
        """Whether a refusal would be the answer to the request that is being read, and no other."""
        served = self.served
        return served is None or (
            isinstance(served, Exchange) and served.more_body and not served.has_begun
        )

    def _say(self, reason: Refused, *, counts: bool) -> None:
        """Tell the reason; or that there were too many requests."""
        count = getattr(self._app, "count_refused", None) if counts else None
        try:
            if count is not None:
                count(self.client)
        except Refused as many:
            reason = Refused(many.status, many.slug, str(many), headers=many.headers, close=True)
        self.transport.write_whole(problem(reason).whole())

    def eof_received(self) -> bool:
        """The caller sends no more; whether there is still something to answer."""
        self.transport.flush()  # False, below, has the loop close it
        if self._is_streaming():
            return False
        self._drop_unended()
        self._is_ending = True
        if self._is_done():
            return False
        if self.served is not None and not (self.pipeline or self._unread):
            self.served.keep_alive = False
        return True

    def shutdown(self) -> None:
        """The server stops: answer what was asked, and close."""
        last = self.pipeline[-1] if self.pipeline else self.served
        if last is None:
            self.transport.close()
        else:
            last.keep_alive = False
            if isinstance(self.served, Underway):  # other tasks are among those it waits for
                self._state.tasks.add(self.served)

    # --- when to read -----------------------------------------------------------------------------

    def _is_streaming(self) -> bool:
        """Whether the answer that is being sent comes in pieces, perhaps without end."""
        return isinstance(self.served, Exchange) and self.served.is_streaming

    def _must_listen(self) -> bool:
        """Whether to read on although there is enough to do, to see when the caller has gone."""
        return bool(self.pipeline or self._unread) and self._is_streaming()

    def _has_enough(self) -> bool:
        """Whether there is something to do before more is received."""
        if self.pipeline or self._unread:
            return not self._is_streaming()
        return self._is_refused or (self._incoming is not None and self._incoming.is_filled)

    def _is_body_wanted(self) -> bool:
        incoming = self._incoming
        return not self._is_dropped and incoming is not None and not incoming.has_begun

    def _is_cut_off(self) -> bool:
        """Whether too much was sent, by this caller behind a stream or by all together."""
        waiting = len(self._unread) - self._parsed
        if waiting > BEHIND_STREAM_BYTES_MAX and self._is_streaming():
            self.cut_off()
        return self.transport.is_closing()

    # --- what the server asks ---------------------------------------------------------------------

    @property
    def is_stuck(self) -> bool:
        """Whether what was received waits for an answer that is not complete, not for a turn."""
        return not self._has_asked

    @property
    def unsent_bytes(self) -> int:
        """Of answers, that the caller does not take; 0 as long as it takes what it gets."""
        return self.transport.get_write_buffer_size() if self.flow.write_paused else 0

    @property
    def held_bytes(self) -> int:
        """Kept in memory: answers that are not taken, heads and bodies that are not whole."""
        return (
            self.unparsed_bytes + self.unsent_bytes + (self._unended_bytes if self._is_begun else 0)
        )

    def cut_off(self) -> None:
        """Close the connection at once, and let go of what it holds."""
        self._forget_unread()
        self.transport.abort()

    def give_up(self, now: float, head_seconds_max: float) -> None:
        """Close a connection that has waited too long: for a head, or to be read."""
        if self._is_unread(now):
            self.transport.abort()
            return
        if self._unread and not self._is_cut_off():
            self.flow.resume_reading()  # if a stream has begun meanwhile
        heads, was_begun, since = self._seen
        has_moved = self._heads != heads or self.served is not None
        if has_moved or (self._heads and self._is_begun and not was_begun):  # it was idle before
            self._seen = (self._heads, self._is_begun, now)
            return
        if not self._is_begun and not self._is_in_body:
            self._forget_head()
        if self._is_begun or not self._heads:
            if now - since > head_seconds_max:
                self._end(HEAD_TOO_SLOW if self._is_begun else None)
        elif now - since > self._config.timeout_keep_alive:
            self._end(None)

    def _is_unread(self, now: float) -> bool:
        """Whether the caller has for too long taken nothing of what waits for it."""
        unsent = self.unsent_bytes
        before, since = self._unsent
        if not unsent or unsent != before:
            self._unsent = (unsent, now)
            return False
        return now - since > READ_SECONDS_MAX
