"""Profiles: adapters wired into a working whole. The only place that knows them all."""

from toprung.profiles.embedded import open_embedded

__all__ = ["open_embedded"]
