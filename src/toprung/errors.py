"""Every exception that Toprung raises on purpose. A class's docstring is its default message.

Three families, one per question a caller asks:

* what did I send wrong?  `Invalid` (and its special cases): nothing was changed;
* what is missing?        `NotFound` and `Gone`;
* can it work later?      `Unavailable`: the same call may succeed later.
"""

from __future__ import annotations

import inspect
import re


class ToprungError(Exception):
    """Something went wrong in Toprung."""

    def __init__(self, detail: str | None = None) -> None:
        self.detail = detail or inspect.cleandoc(type(self).__doc__ or "")
        super().__init__(self.detail)


def slug_of(kind: type[ToprungError]) -> str:
    """The name of an error where it is no class: in problem documents.

    >>> slug_of(UnknownBoard)
    'unknown-board'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()


# --- what was sent is wrong -----------------------------------------------------------------


class Invalid(ToprungError):
    """A value is invalid.

    `field` says which one, as a JSON-pointer-like path without its leading slash
    (``score``, ``windows/2/cron``); it is empty when the whole input is meant.
    """

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(detail)
        self.field = field

    def __str__(self) -> str:
        return f"{self.field}: {self.detail}" if self.field else self.detail

    def under(self, parent: str) -> Invalid:
        """The same error, its field seen from one level further out."""
        return type(self)(f"{parent}/{self.field}" if self.field else parent, self.detail)


class FutureSubmission(Invalid):
    """The submission's `at` is in the future."""


class TooLate(Invalid):
    """The submission counts in no window."""


class ScoreOverflow(Invalid):
    """The sum would exceed the range of a 64-bit integer."""


class ExcessiveIncrease(Invalid):
    """The score improves by more than the board's max_increase."""


class KeyReused(Invalid):
    """The idempotency key was used with a different submission."""


class RunRequired(Invalid):
    """The board takes scores from players with a run only."""


class RunUsed(Invalid):
    """The run was used with a different submission."""


class RunExpired(Invalid):
    """The run has expired; start another one."""


class RunTooShort(Invalid):
    """The score came sooner after the start of its run than the board allows."""


class RunMismatch(Invalid):
    """The run was started for another player, or on another board."""


class WrongSignature(Invalid):
    """The signature does not fit the submission, or the run is not genuine."""


class Restricted(Invalid):
    """The player is banned from this board; nothing was recorded."""


class FixedRule(Invalid):
    """This rule cannot change once the board has entries."""


class TooManyFriends(Invalid):
    """A player can have at most 5,000 friends."""


class TooManyLadders(Invalid):
    """The board has as many ladders of scopes as it may have."""


class NotYet(Invalid):
    """It cannot be done yet."""


class EntriesChanged(NotYet):
    """Entries were changed while a period was being settled."""


class NotPending(Invalid):
    """The submission does not wait for a verdict: it has one, or it never waited."""


class Claimed(Invalid):
    """Somebody else has claimed the submission, and decides it."""


class DocumentChanged(Invalid):
    """The document has another version than was expected."""


class DenseNotDeclared(Invalid):
    """A dense rank this deep needs a board with ranking "dense"."""


# --- what was asked for is not there --------------------------------------------------------


class NotFound(ToprungError):
    """Not found."""


class UnknownBoard(NotFound):
    """There is no such board."""


class UnknownPlayer(NotFound):
    """There is no such player."""


class UnknownSubmission(NotFound):
    """There is no such submission."""


class UnknownWindow(NotFound):
    """The board has no such window."""


class UnknownPeriod(NotFound):
    """The window has no such period."""


class UnknownScope(NotFound):
    """The board has no such scope."""


class NotRanked(NotFound):
    """The player has no entry on this ladder."""


class NotSequenced(NotFound):
    """The audit log has not got there yet."""


class Gone(ToprungError):
    """It existed, but is no longer available."""


class PeriodGone(Gone):
    """The period is no longer retained."""


class ArchiveGone(Gone):
    """The archive of the period is missing: its file was deleted, or is in another place."""


class CursorGone(Gone):
    """The cursor has expired; start again from the first page."""


# --- not now --------------------------------------------------------------------------------


class Unavailable(ToprungError):
    """Temporarily unavailable."""


class NotReady(Unavailable):
    """The ladder is being rebuilt and is not complete yet."""


class Overloaded(Unavailable):
    """Too many submissions are waiting; try again shortly."""


class TooManyKeys(Overloaded):
    """A board or an owner of access keys has used up its quota of idempotency keys.

    `retry_seconds` is how long it takes, at most, until there is room again; None is unknown.
    """

    def __init__(self, detail: str | None = None, retry_seconds: int | None = None) -> None:
        super().__init__(detail)
        self.retry_seconds = retry_seconds


class RunsUnavailable(Unavailable):
    """Runs cannot be started: set TOPRUNG_RUN_SECRETS to a file that all processes share."""


class TooManySubmissions(Overloaded):
    """A player or an address has sent more submissions than it may; try again later.

    `retry_seconds` is how long it takes until there is room for another one.
    """

    def __init__(self, detail: str | None = None, retry_seconds: int | None = None) -> None:
        super().__init__(detail)
        self.retry_seconds = retry_seconds


class TooManyPending(Overloaded):
    """Too many submissions of the board wait for a verdict, and this one would have to."""


class Closed(Unavailable):
    """The leaderboards have been closed."""


class StorageFailed(Unavailable):
    """The storage failed; nothing of this was recorded."""


class DatabaseInUse(Unavailable):
    """Another process owns this database file."""

    def __init__(
        self, detail: str | None = None, *, pid: int | None = None, url: str | None = None
    ) -> None:
        super().__init__(detail)
        self.pid = pid
        """The process that owns it; None is unknown."""
        self.url = url
        """Where that process serves it, if it does."""


class DatabaseDamaged(Unavailable):
    """The database file is damaged or is not a Toprung database."""


class TruthUnavailable(Unavailable):
    """PostgreSQL cannot be reached at the moment."""


class OlderProcesses(Unavailable):
    """Processes of an older version of Toprung are still at work; update them first."""


class LeaseLost(Unavailable):
    """Another process has taken this work over; nothing of this was recorded."""


class IndexUnavailable(Unavailable):
    """The index cannot be reached at the moment; recorded scores are safe, and ranks catch up."""


class ArchiveUnavailable(Unavailable):
    """The store of archives cannot be reached at the moment; nothing is lost."""


class ArchiveDamaged(Unavailable):
    """The archive of the period cannot be read: its file is damaged, or another one."""


class LogUnavailable(Unavailable):
    """The audit log cannot be signed here."""


class OutcomeUnknown(Unavailable):
    """It is unknown whether this was recorded; send it again with its key."""


class Unreachable(Unavailable):
    """The service cannot be reached."""


# --- between a client and its service -------------------------------------------------------


class ServiceFailed(ToprungError):
    """The service returned an error that the library does not know.

    `status` is the HTTP status, `request` the request's id in the service's log.
    """

    def __init__(self, status: int, detail: str, request: str = "") -> None:
        super().__init__(detail)
        self.status = status
        self.request = request

    def __str__(self) -> str:
        request = f", request {self.request}" if self.request else ""
        return f"{self.detail} (status {self.status}{request})"


class NotAllowed(ServiceFailed):
    """The service requires a key, or one with more access."""


class NotServed(ToprungError):
    """A service does not offer this; open the database itself."""


# --- installation ---------------------------------------------------------------------------


class MissingExtra(ToprungError):
    """An optional part of Toprung is not installed."""

    def __init__(self, extra: str) -> None:
        install = f'pip install "toprung[{extra}]", or make install in a clone'
        super().__init__(f"an optional dependency is missing: {install}")
