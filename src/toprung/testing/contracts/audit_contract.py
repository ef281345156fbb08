"""The audit log, on either profile: acts with who and why, leaves, proofs, erased players."""

from __future__ import annotations

import base64
import random
from pathlib import Path
from typing import Any

import pytest

from toprung.domain.commands import RecordAct
from toprung.domain.events import Acted, PlayerErased
from toprung.domain.trust.act import By, parse_act_reason
from toprung.domain.trust.actor import Actor
from toprung.domain.trust.checking import SEPARATOR, checked
from toprung.domain.trust.leaves import commitment
from toprung.domain.trust.log import LOG, InclusionProof
from toprung.domain.trust.merkle import (
    Tree,
    leaf_hash,
    proves_consistency,
    proves_inclusion,
    tree_hash,
)
from toprung.domain.trust.notes import Checkpoint, opened_note, parse_verifier
from toprung.errors import Invalid, NotFound, NotSequenced
from toprung.journals.log_key import LogKeyFile, checks
from toprung.ports import FollowerState, Selection
from toprung.service.audit import AuditLog
from toprung.service.background.sequencing import LogFollower
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session
from toprung.waiting.threads import in_thread

KEY = Actor("key", "mfzwizlr")


def tree_of(checkpoint: Checkpoint) -> Tree:
    """What a checkpoint is about."""
    return Tree(checkpoint.size, base64.b64decode(checkpoint.root))


def hashes_of(texts: tuple[str, ...]) -> list[bytes]:
    """The hashes of a proof."""
    return [base64.b64decode(each) for each in texts]


class Auditing:
    """A profile with a signed log."""

    def __init__(self, opened: Session, key_path: str) -> None:
        self.opened = opened
        self.key_path = key_path

    @property
    def log(self) -> AuditLog:
        """The log of the profile as it is now open, which signs with a key of its own."""
        log = self.opened.boards.audit
        signer = LogKeyFile(self.key_path, in_thread)
        return AuditLog(log.store, log.followers, log.journal, signer, log.catch_up)

    def run(self, work: Any) -> Any:
        """Do asynchronous work to its end."""
        return self.opened.run(work)

    def settle(self) -> Checkpoint:
        """Have everything sequenced; what the log holds then."""
        self.run(self.opened.boards.background.settle())
        found: Checkpoint = self.run(self.log.checkpoint())
        return found

    def leaves(self, at_once: int = 700) -> list[str]:
        """All leaves."""
        found: list[str] = []
        while some := self.run(self.log.leaves(len(found), at_once)).leaves:
            found += some
        return found

    def check(self) -> list[str]:
        """All leaves, which are those of the signed checkpoint."""
        checkpoint, leaves = self.settle(), self.leaves()
        hashes = [leaf_hash(leaf.encode()) for leaf in leaves]
        assert Tree(len(leaves), tree_hash(hashes)) == tree_of(checkpoint)
        return leaves

    def export(self) -> str:
        """As `toprung audit export` writes it."""
        return "\n".join([f"{self.settle().note}{SEPARATOR}", *self.leaves(), ""])

    def faults(self, export: str, kept: str | None = None) -> list[str]:
        """What somebody finds wrong with it who has only the public key."""
        verifier = parse_verifier(self.run(self.log.key()).key)
        lines = export.splitlines(keepends=True)
        return list(checked(lines, verifier, checks, kept).faults)

    def acts(self, **asked: Any) -> list[tuple[str, str, str, str]]:
        """(act, actor, id, reason), newest first."""
        page = self.run(self.log.acts(**asked))
        return [(each.act, each.actor, each.actor_id, each.reason) for each in page.acts]


class AuditContract(ContractSuite):
    """Acts and the log of all events."""

    steps = 120

    @pytest.fixture
    def auditing(self, opened: Session, tmp_path: Path) -> Auditing:
        """The profile, with a key that signs."""
        return Auditing(opened, str(tmp_path / "log-key"))

    # --- acts ------------------------------------------------------------------------------------

    def test_acts_say_who_and_why(self, opened: Session, auditing: Auditing) -> None:
        boards = opened.boards.acting_as(KEY, "season 4")
        board = opened.run(boards.create("b", windows=["all-time"]))
        opened.run(boards.patch("b", title="B"))
        opened.run(opened.boards.replace("b", windows=["all-time"]))
        opened.run(board.submit("ann", 5))
        opened.run(board.submit("bob", 5))
        opened.run(board.acting_as(Actor("cli"), "cheated").remove("ann"))
        assert boards.keys is not None
        key, _ = opened.run(boards.keys.create("game"))
        opened.run(boards.keys.edit(key.id, name="other"))
        opened.run(boards.keys.rotate(key.id))
        opened.run(boards.keys.revoke(key.id))
        opened.run(boards.webhooks.put("chat", "https://example.org/x", ["leader.changed"]))
        opened.run(boards.webhooks.delete("chat"))
        opened.run(boards.rebuild_follower("activity"))
        opened.run(boards.acting_as(Actor("player", "ann")).erase("bob"))
        opened.run(boards.delete("b"))
        page = opened.run(auditing.log.acts())
        found = [(act.act, act.actor, act.actor_id, act.reason) for act in reversed(page.acts)]
        mine = ("key", "mfzwizlr", "season 4")
        assert found == [
            ("board.create", *mine),
            ("board.patch", *mine),
            ("board.replace", "library", "", ""),
            ("player.remove", "cli", "", "cheated"),
            ("key.create", *mine),
            ("key.edit", *mine),
            ("key.rotate", *mine),
            ("key.revoke", *mine),
            ("webhook.set", *mine),
            ("webhook.delete", *mine),
            ("follower.rebuild", *mine),
            ("player.erase", "player", "", ""),  # events name players by number
            ("board.delete", *mine),
        ]
        by_act = {act.act: act for act in page.acts}
        assert (by_act["player.remove"].board, by_act["player.remove"].player) == ("b", "ann")
        assert by_act["key.create"].subject == key.id
        assert by_act["player.erase"].player is None
        assert by_act["board.create"].at.isoformat() == "2026-11-15T12:30:00+00:00"
        assert by_act["follower.rebuild"].subject == "activity"

    def test_what_is_refused_leaves_no_act(self, opened: Session, auditing: Auditing) -> None:
        boards = opened.boards
        assert boards.keys is not None
        for refused in (
            boards.erase("nobody"),
            boards.delete("nowhere"),
            boards.patch("nowhere", title="x"),
            boards.keys.revoke("aaaaaaaa"),
            boards.webhooks.delete("nothing"),
            boards.rebuild_follower("nobody"),
            boards.rebuild_follower(LOG),
        ):
            with pytest.raises((NotFound, Invalid)):
                opened.run(refused)
        assert auditing.acts() == []

    def test_acts_are_found(self, opened: Session, auditing: Auditing, clock: FrozenClock) -> None:
        for number in range(7):
            actor = KEY if number % 2 else Actor("cli")
            boards = opened.boards.acting_as(actor, f"n{number}")
            opened.run(boards.create(f"b{number % 3}-{number}", windows=["all-time"]))
            clock.advance(minutes=1)
        assert [act[3] for act in auditing.acts(actor="cli")] == ["n6", "n4", "n2", "n0"]
        assert [act[3] for act in auditing.acts(actor="key:mfzwizlr")] == ["n5", "n3", "n1"]
        assert auditing.acts(actor="key:other") == auditing.acts(actor="ke") == []
        assert [act[3] for act in auditing.acts(board="b0-3")] == ["n3"]
        since = "2026-11-15T12:32:00Z"
        assert [act[3] for act in auditing.acts(since=since, until="2026-11-15T12:34:00Z")] == [
            "n3",
            "n2",
        ]
        pages: list[str] = []
        cursor = None
        while True:
            page = opened.run(auditing.log.acts(limit=3, cursor=cursor))
            pages += [act.reason for act in page.acts]
            cursor = page.next
            if cursor is None:
                break
        assert pages == [f"n{number}" for number in reversed(range(7))]
        for wrong in ({"limit": 0}, {"cursor": "x"}, {"since": "soon"}, {"actor": ""}):
            with pytest.raises(Invalid):
                opened.run(auditing.log.acts(**wrong))

    @pytest.mark.parametrize("reason", ["x" * 501, "a\nb", "\x7f", "\ud800", 7, None])
    def test_reasons_that_are_none(self, opened: Session, reason: Any) -> None:
        with pytest.raises(Invalid, match="reason"):
            parse_act_reason(reason)
        with pytest.raises(Invalid, match="reason"):
            opened.boards.acting_as(KEY, reason)

    def test_an_act_is_recorded_with_what_it_does(self, opened: Session) -> None:
        board = opened.run(opened.boards.create("b", windows=["all-time"]))
        before = opened.run(opened.journal.last_position())
        opened.run(board.submit("ann", 5))
        opened.run(opened.boards.acting_as(KEY, "asked for it").erase("ann"))
        opened.run(opened.journal.record(RecordAct("key.edit", "abc", by=By(KEY))))
        opened.run(opened.journal.record(RecordAct("key.edit", "abc")))  # nobody's: no act

        async def bodies() -> list[Any]:
            return [event.body async for event in opened.journal.read(before)]

        _, erased, acted = opened.run(bodies())
        assert isinstance(erased, PlayerErased)
        assert erased.by is not None
        assert (erased.by.name, erased.by.id) == ("player.erase", "mfzwizlr")
        assert isinstance(acted, Acted)
        assert acted.subject == "abc"

    # --- the log ---------------------------------------------------------------------------------

    def fill(self, opened: Session, count: int, *, details: bool = False) -> list[int]:
        """So many submissions; their ids."""
        board = opened.run(opened.boards.replace("b", windows=["all-time", "daily"]))
        return [
            opened.run(
                board.submit(f"p{n % 9}", n, details={"n": n} if details and n % 3 == 0 else None)
            ).submission
            for n in range(count)
        ]

    def test_an_empty_log(self, auditing: Auditing) -> None:
        checkpoint = auditing.settle()
        assert checkpoint.size == 0
        assert checkpoint.root == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        assert auditing.leaves() == []
        assert auditing.faults(auditing.export()) == []

    def test_every_event_is_a_leaf(self, opened: Session, auditing: Auditing) -> None:
        ids = self.fill(opened, 12, details=True)
        opened.run(opened.boards.set_player("p1", name="Ann", attributes={"country": "PT"}))
        opened.run(opened.boards.befriend("p1", "p2"))
        opened.run(opened.boards.acting_as(KEY, "secret words").erase("p2"))
        leaves = auditing.check()

        async def positions() -> list[int]:
            return [event.position async for event in opened.journal.read()]

        assert [int(leaf[1:].partition(",")[0]) for leaf in leaves] == opened.run(positions())
        text = "".join(leaves)
        for private in ("PT", "Ann", "secret words", '{"n"'):
            assert private not in text
        assert text.count('"details":') == 4
        assert text.count('"attributes":') == 1
        assert text.count('"by.reason":') == 1
        assert f"[{ids[0]}," in text

    def test_proofs(self, opened: Session, auditing: Auditing) -> None:
        ids = self.fill(opened, 30, details=True)
        verifier = parse_verifier(auditing.run(auditing.log.key()).key)
        checkpoint = auditing.settle()
        for submission in ids:
            proof: InclusionProof = auditing.run(auditing.log.proof(submission))
            leaf = leaf_hash(proof.leaf.encode())
            assert proof.checkpoint.size == checkpoint.size
            assert opened_note(proof.checkpoint.note, verifier, checks) is not None
            assert proves_inclusion(
                tree_of(proof.checkpoint), proof.index, leaf, hashes_of(proof.hashes)
            )
            assert (proof.id, proof.board) == (submission, "b")
        proof = auditing.run(auditing.log.proof(ids[3]))
        salt = bytes.fromhex(proof.salts["details"])
        assert commitment(salt, b'{"n":3}') in proof.leaf
        assert commitment(salt, b'{"n":4}') not in proof.leaf
        assert auditing.run(auditing.log.proof(str(ids[4]))).salts == {}
        with pytest.raises(NotFound):
            auditing.run(auditing.log.proof(1))  # a board, and no submission
        with pytest.raises(NotFound):
            auditing.run(auditing.log.proof(10**15))
        refused: list[Any] = [0, -1, 2**63, "x", "1.0", None, True]
        for wrong in refused:
            with pytest.raises(Invalid):
                auditing.run(auditing.log.proof(wrong))

    def test_a_log_only_grows(self, opened: Session, auditing: Auditing) -> None:
        kept = []
        for count in (1, 3, 8, 40):
            self.fill(opened, count)
            kept.append(auditing.settle())
            opened.restart()
        for old in kept:
            for new in kept:
                if old.size <= new.size:
                    work = auditing.log.consistency(old.size, new.size)
                    proof = hashes_of(auditing.run(work).hashes)
                    assert proves_consistency(tree_of(old), tree_of(new), proof)
        assert auditing.run(auditing.log.consistency(0)).hashes == ()
        assert auditing.faults(auditing.export(), kept[1].note) == []
        for wrong in ((-1, None), (5, 4), (0, 10**6), (0.5, None)):
            with pytest.raises(Invalid):
                auditing.run(auditing.log.consistency(*wrong))

    def test_erasing_breaks_no_proof(self, opened: Session, auditing: Auditing) -> None:
        ids = self.fill(opened, 30, details=True)
        board = opened.run(opened.boards.board("b"))
        opened.run(opened.boards.set_player("p3", attributes={"country": "PT"}))
        opened.run(board.acting_as(KEY, "p3 is John Doe").remove("p3"))
        before, checkpoint = auditing.check(), auditing.settle()
        proof = auditing.run(auditing.log.proof(ids[3]))
        assert proof.salts
        assert ("player.remove", "key", "mfzwizlr", "p3 is John Doe") in auditing.acts()
        opened.run(opened.boards.acting_as(KEY, "asked for it").erase("p3"))
        assert auditing.check()[: len(before)] == before
        after = auditing.run(auditing.log.proof(ids[3]))
        assert (after.leaf, after.index, after.salts) == (proof.leaf, proof.index, {})
        assert auditing.faults(auditing.export(), checkpoint.note) == []
        reasons = [act[3] for act in auditing.acts()]
        assert "asked for it" in reasons
        assert "p3 is John Doe" not in reasons
        opened.restart()
        assert auditing.check()[: len(before)] == before
        assert opened.run(opened.boards.verify()) == []

    def test_who_is_erased_before_it_is_sequenced(
        self, opened: Session, auditing: Auditing
    ) -> None:
        """Nothing of the player is kept, though it has leaves."""
        ids = self.fill(opened, 5, details=True)
        (number,) = opened.run(opened.journal.numbers(["p0"])).values()
        opened.run(opened.boards.erase("p0"))
        leaves = auditing.check()
        assert '"details"' not in next(each for each in leaves if each.startswith(f"[{ids[0]},"))
        assert opened.run(auditing.log.store.secrets([number])) == {}

    def test_who_is_erased_while_it_is_sequenced(self, opened: Session, auditing: Auditing) -> None:
        self.fill(opened, 5, details=True)
        (number,) = opened.run(opened.journal.numbers(["p0"])).values()
        background = opened.boards.background
        store, follower = background.stores.followers, self.follower(opened)

        async def sequence() -> None:
            lease = await background.stores.leases.take("followers")
            assert lease is not None
            state = (await store.states()).get(LOG)
            assert state is None
            stretch = await store.read(0, 1000, Selection(()))
            step = await follower.derive(stretch, FollowerState(0))
            assert number in step.secrets
            await opened.boards.erase("p0")
            await store.commit(lease, LOG, None, step)

        opened.run(sequence())
        assert opened.run(auditing.log.store.secrets([number])) == {}
        auditing.check()

    def follower(self, opened: Session) -> LogFollower:
        """The follower behind the log."""
        audit = opened.boards.audit
        return LogFollower(audit.store, audit.followers)

    def test_what_is_not_sequenced_yet(self, opened: Session, auditing: Auditing) -> None:
        (submission,) = self.fill(opened, 1)
        log = auditing.log
        log.catch_up = None
        with pytest.raises(NotSequenced):
            opened.run(log.proof(submission))
        auditing.settle()
        assert opened.run(log.proof(submission)).id == submission

    def test_many_tiles_in_random_steps(self, opened: Session, auditing: Auditing) -> None:
        """Of batches of any size, sequenced now and then: always the tree of all leaves."""
        chance = random.Random(20261115)
        board = opened.run(opened.boards.create("b", windows=["all-time"]))
        kept = [auditing.settle()]
        for _ in range(6):
            count = chance.choice([1, 2, 255, 256, 257, 300])
            opened.run(board.submit_many([(f"p{n}", n) for n in range(count)]))
            kept.append(auditing.settle())
        leaves = auditing.check()
        for checkpoint in kept:
            hashes = [leaf_hash(leaf.encode()) for leaf in leaves[: checkpoint.size]]
            assert tree_of(checkpoint).root == tree_hash(hashes)
        assert opened.run(auditing.log.leaves(255, 3)).leaves == tuple(leaves[255:258])

    # --- what a third party finds ----------------------------------------------------------------

    def test_what_was_tampered_with_is_found(self, opened: Session, auditing: Auditing) -> None:
        self.fill(opened, 9)
        kept = auditing.settle()
        self.fill(opened, 9)
        export = auditing.export()
        assert auditing.faults(export, kept.note) == []
        lines = export.splitlines(keepends=True)
        start = lines.index(f"{SEPARATOR}\n") + 1
        changed = [*lines[: start + 4], lines[start + 4].replace(",3,", ",9,"), *lines[start + 5 :]]
        assert changed != lines
        assert auditing.faults("".join(changed))
        assert auditing.faults("".join(changed), kept.note)
        assert auditing.faults("".join(lines[:-1]))  # a leaf is missing
        assert auditing.faults("".join([*lines, lines[-1]]))  # one came twice
        assert auditing.faults(export + "[999999999]\n")  # nobody signed that one
        swapped = [*lines[:start], lines[start + 1], lines[start], *lines[start + 2 :]]
        assert auditing.faults("".join(swapped))
        assert auditing.faults(export.replace(f"\n{len(lines) - start}\n", "\n7\n", 1))
        assert auditing.faults(export, kept.note.replace("— ", "— x"))
        assert auditing.faults("nothing\n") == ["this is no export of an audit log"]
        rewritten = Auditing(opened, f"{auditing.key_path}-2")
        assert auditing.faults(rewritten.export())  # signed by another key

    def test_a_tampered_event_is_found(self, opened: Session, auditing: Auditing) -> None:
        """What stands in the journal now is not what was signed then."""
        ids = self.fill(opened, 9)
        kept = auditing.settle()
        opened.run(self.tamper(opened, ids[4]))
        assert auditing.faults(auditing.export(), kept.note)

    async def tamper(self, opened: Session, submission: int) -> None:
        """Change the score of a submission behind the journal's back."""
        raise NotImplementedError
