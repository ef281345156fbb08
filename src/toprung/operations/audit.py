"""The audit log: its key, checkpoints, proofs and leaves; who administered; what was refused."""

from __future__ import annotations

from toprung.contract import SecurityAnswer
from toprung.domain.trust.log import AuditPage, ConsistencyProof, InclusionProof, LogKey, LogLeaves
from toprung.domain.trust.notes import Checkpoint
from toprung.operations.operation import Subject
from toprung.operations.requests import AuditQuery, ConsistencyQuery, LeavesQuery

operations = Subject("audit")

operations.get(
    "get_log_key",
    "/v1/log/key",
    None,
    "Get the public key that checkpoints of the audit log are checked with.",
    runs="audit.key",
    answer=LogKey,
    also=(503,),
    is_stored=False,
)
operations.get(
    "get_checkpoint",
    "/v1/log/checkpoint",
    None,
    "Get how much the audit log holds, signed.",
    description="`note` is a signed note (C2SP `tlog-checkpoint`) with an Ed25519 signature. Keep"
    " one, and later ones can be checked against it.",
    runs="audit.checkpoint",
    answer=Checkpoint,
    also=(503,),
    is_stored=False,
)
operations.get(
    "get_consistency",
    "/v1/log/consistency",
    None,
    "Get the proof that the audit log was only added to between two sizes.",
    runs="audit.consistency",
    query=ConsistencyQuery,
    answer=ConsistencyProof,
    is_stored=False,
)
operations.get(
    "list_leaves",
    "/v1/log/leaves",
    "admin",
    "List leaves of the audit log: what was hashed, in order.",
    runs="audit.leaves",
    query=LeavesQuery,
    answer=LogLeaves,
    is_stored=False,
)
operations.get(
    "get_proof",
    "/v1/submissions/{submission}/proof",
    "read",
    "Get the proof that a submission is in the audit log.",
    description="404 with `Retry-After` until it is sequenced, usually within a second. It needs a"
    " key that allows `read` on the submission's board.",
    runs="audit.proof",
    answer=InclusionProof,
    also=(404, 503),
    checks_boards=True,
    is_stored=False,
)
operations.get(
    "list_acts",
    "/v1/audit",
    "admin",
    "List acts of administration, newest first: who did what, when and why.",
    description="Requests that change something may say why in the header `Toprung-Reason`,"
    " percent-encoded UTF-8 of at most 500 characters.",
    runs="audit.acts",
    query=AuditQuery,
    answer=AuditPage,
    is_stored=False,
)
operations.get(
    "list_refusals",
    "/v1/audit/security",
    "admin",
    "List what this process has refused lately: wrong keys, missing access, limits.",
    description="The newest 1,000 are kept in memory, and the counts since the process started.",
    answer=SecurityAnswer,
    is_stored=False,
)
