"""The system's own Chromium; none is ever downloaded."""

from __future__ import annotations

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Where it is, if it is installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)
