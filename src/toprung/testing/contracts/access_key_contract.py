"""Access keys: made, found, changed, rotated and revoked, whichever store keeps them."""

from __future__ import annotations

from typing import Any

import pytest

from toprung.domain.access import VERBS, AccessKey
from toprung.domain.instant import DAY, SECOND, parse_instant
from toprung.errors import Invalid, NotFound
from toprung.service.keys import Keys
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session

LATER = "2026-12-24T00:00:00Z"


class AccessKeyContract(ContractSuite):
    """The keys of services, and the store behind them."""

    def keys(self, opened: Session) -> Keys:
        found = opened.boards.keys
        assert found is not None
        return found

    def stored(self, opened: Session) -> list[AccessKey]:
        """All keys, as somebody sees them who opens the store now."""
        opened.restart()
        return opened.run(self.keys(opened).all())

    def test_everything_is_kept(self, opened: Session) -> None:
        asked: dict[str, Any] = {"expires_at": LATER, "addresses": ["10.0.0.0/8", "2001:db8::1"]}
        create = self.keys(opened).create("game", ["write", "read"], ["eu-*", "us"], "me", **asked)
        key, text = opened.run(create)
        assert (key.verbs, key.boards, key.owner) == (("read", "write"), ("eu-*", "us"), "me")
        assert (key.expires_at, key.addresses) == (parse_instant(LATER), tuple(asked["addresses"]))
        assert self.stored(opened) == [key]
        assert opened.run(self.keys(opened).find(text)) == key

    def test_what_is_not_said_limits_nothing(self, opened: Session) -> None:
        key, _ = opened.run(self.keys(opened).create("game"))
        assert (key.verbs, key.boards, key.owner) == (VERBS, ("*",), key.id)
        assert (key.expires_at, key.addresses) == (None, ())
        assert self.stored(opened) == [key]

    def test_edited_members_change_and_no_others(self, opened: Session) -> None:
        keys = self.keys(opened)
        key, text = opened.run(keys.create("game", ["read"], expires_at=LATER))
        other, _ = opened.run(keys.create("other"))
        changes: tuple[dict[str, Any], ...] = (
            {"name": "shop"},
            {"verbs": ["admin", "moderate"]},
            {"boards": ["eu-*"], "addresses": ["192.0.2.7/32"]},
            {"expires_at": "2026-11-16T00:00:00+01:00"},
            {"expires_at": None, "addresses": []},
            {},
        )
        told = {"name": "game", "verbs": ("read",), "boards": ("*",), "addresses": ()}
        found = key
        for change in changes:
            found = opened.run(keys.edit(key.id, **change))
            told |= {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in change.items()
            }
            told["verbs"] = tuple(verb for verb in VERBS if verb in told["verbs"])
            told["addresses"] = tuple(each.removesuffix("/32") for each in told["addresses"])
            shown = {name: getattr(found, name) for name in told if name != "expires_at"}
            assert shown == {name: told[name] for name in shown}
            assert (found.digest, found.owner) == (key.digest, key.owner)
            assert opened.run(keys.find(text)) == found
        assert found.expires_at is None
        assert {each.id: each for each in self.stored(opened)} == {key.id: found, other.id: other}

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"name": None}, "name"),
            ({"name": "\ud800"}, "name"),
            ({"verbs": []}, "verbs"),
            ({"verbs": ["fly"]}, "verbs"),
            ({"boards": ["A B"]}, "boards/0"),
            ({"expires_at": "2026-11-15T12:30:00Z"}, "expires_at"),
            ({"expires_at": "tomorrow"}, "expires_at"),
            ({"expires_at": 10**30}, "expires_at"),
            ({"addresses": None}, "addresses"),
            ({"addresses": ["10.0.0.1/8"]}, "addresses/0"),
            ({"addresses": ["10.0.0.1", "here"]}, "addresses/1"),
            ({"addresses": ["::ffff:10.0.0.1"]}, "addresses/0"),
            ({"addresses": [2130706433]}, "addresses/0"),
            ({"addresses": ["10.0.0.1"] * 65}, "addresses"),
        ],
    )
    def test_wrong_changes_are_refused(
        self, opened: Session, change: dict[str, Any], field: str
    ) -> None:
        keys = self.keys(opened)
        key, _ = opened.run(keys.create("game"))
        with pytest.raises(Invalid) as refused:
            opened.run(keys.edit(key.id, **change))
        assert refused.value.field == field
        assert opened.run(keys.all()) == [key]

    def test_a_rotated_key_has_a_successor(self, opened: Session, clock: FrozenClock) -> None:
        keys = self.keys(opened)
        limits: dict[str, Any] = {"addresses": ["10.0.0.0/8"]}
        old, old_text = opened.run(keys.create("game", ["write"], ["eu-*"], "me", **limits))
        clock.advance(days=3)
        new, text = opened.run(keys.rotate(old.id, 60))
        same = ("name", "owner", "verbs", "boards", "addresses", "expires_at")
        assert [getattr(new, name) for name in same] == [getattr(old, name) for name in same]
        assert (new.id == old.id, new.digest == old.digest, text == old_text) == (False,) * 3
        assert new.created_at == clock.now()
        found = {each.id: each for each in self.stored(opened)}
        assert found[new.id] == new
        assert found[old.id].expires_at == clock.now() + 60 * SECOND
        keys = self.keys(opened)
        assert set(opened.run(keys.valid())) == {old.id, new.id}
        clock.advance(seconds=60)
        assert set(opened.run(keys.valid())) == {new.id}
        assert keys.is_expired(found[old.id])

    def test_an_overlap_never_prolongs(self, opened: Session, clock: FrozenClock) -> None:
        keys = self.keys(opened)
        old, _ = opened.run(keys.create("game", expires_at="2026-11-16T12:30:00Z"))
        clock.advance(hours=12)
        new, _ = opened.run(keys.rotate(old.id, 30 * 86_400))
        found = {each.id: each for each in self.stored(opened)}
        assert found[old.id].expires_at == old.expires_at
        assert new.expires_at == clock.now() + DAY
        assert found[new.id] == new

    def test_who_is_not_there_is_not_found_and_nothing_is_made(self, opened: Session) -> None:
        keys = self.keys(opened)
        key, _ = opened.run(keys.create("game"))
        for work in (keys.edit("nobody", name="x"), keys.edit("nobody"), keys.rotate("nobody")):
            with pytest.raises(NotFound, match="nobody"):
                opened.run(work)
        assert not opened.run(keys._store.rotate(key, "nobody", 1))  # noqa: SLF001
        for seconds in (-1, 10**30, "1", None, True):
            with pytest.raises(Invalid, match="overlap_seconds"):
                opened.run(keys.rotate(key.id, seconds))  # type: ignore[arg-type]
        assert self.stored(opened) == [key]

    def test_uses_are_noted_for_keys_that_let_somebody_in(
        self, opened: Session, clock: FrozenClock
    ) -> None:
        keys = self.keys(opened)
        key, text = opened.run(keys.create("game"))
        assert opened.run(keys.find(text)) == key
        assert opened.run(keys.all())[0].last_used_at is None
        clock.advance(minutes=1)
        keys.note_use(key)
        opened.run(keys.save_uses())
        assert self.stored(opened)[0].last_used_at == clock.now()
