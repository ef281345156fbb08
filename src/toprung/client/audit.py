"""The audit log of a service."""

from __future__ import annotations

from toprung.client.remote import RemoteFace
from toprung.faces import AuditMethods


class Audit(AuditMethods, RemoteFace, runs="audit"):
    """Proof of what a service has recorded, and who administered it.

    Leaves and acts need a key that allows `admin`, proofs one that allows `read`.
    """
