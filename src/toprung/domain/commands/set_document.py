"""Setting a document."""

from __future__ import annotations

import msgspec

from toprung.domain.commands.deciding import Decision, Needs, State
from toprung.domain.documents import check_key, plain_value, struct_of
from toprung.domain.events import DocumentSet
from toprung.errors import DocumentChanged


class SetDocument(msgspec.Struct, frozen=True):
    """Set a document, or delete it."""

    kind: str
    key: str
    value: msgspec.Struct | None
    """None deletes it."""
    expected: int | None = None
    """The version that it must have for this to happen, 0 if there must be none; None: any."""

    @property
    def needs(self) -> Needs:
        """The document."""
        return Needs(documents=((self.kind, self.key),))

    def decide(self, state: State) -> Decision:
        """Whoever expects another version has not seen what was set since."""
        struct_of(self.kind)
        check_key(self.key)
        current = state.document((self.kind, self.key))
        version = 0 if current is None else current.version
        if self.expected is not None and self.expected != version:
            raise DocumentChanged(
                "expected",
                f"document {self.key!r} of the kind {self.kind!r} has version {version},"
                f" not {self.expected}",
            )
        plain = None if self.value is None else plain_value(self.kind, self.value)
        if plain is None and current is None:
            return Decision()
        return Decision((DocumentSet(self.kind, self.key, plain),), result=state.position)
