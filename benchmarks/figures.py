"""Figures as people read them."""

from __future__ import annotations


def show_figure(value: float, unit: str) -> str:
    """A figure with its unit.

    >>> show_figure(3.14, "us"), show_figure(12_345, "us"), show_figure(1234567.8, "per s")
    ('3.1 µs', '12 ms', '1,234,568/s')
    """
    if unit == "us":
        return show_duration(value)
    if unit == "ms":
        return show_duration(1000 * value)
    if unit == "bytes":
        return f"{value:.1f} bytes"
    if unit in ("/s", "per s") or unit.endswith("/s"):
        return f"{value:,.0f}/s"
    return f"{value:,.1f} {unit}"


def show_ratio(value: float, first: float) -> str:
    """How many times as much as the first one has.

    >>> show_ratio(5.0, 40.0), show_ratio(96.0, 40.0), show_ratio(4321.0, 3.0)
    ('0.12x', '2.4x', '1,440x')
    """
    ratio = value / first
    return f"{ratio:.2f}x" if ratio < 1 else f"{ratio:.1f}x" if ratio < 10 else f"{ratio:,.0f}x"


def show_duration(microseconds: float) -> str:
    """A duration in the unit that suits it, with two digits that count."""
    value, unit = microseconds, "µs"
    for larger in ("ms", "s"):
        if value >= 1000:
            value, unit = value / 1000, larger
    digits = 2 if value < 1 else 1 if value < 10 else 0
    return f"{value:.{digits}f} {unit}"


def show_count(count: float) -> str:
    """A round number of players."""
    for unit, factor in (("M", 1e6), ("k", 1e3)):
        if count >= factor:
            return f"{count / factor:g}{unit}"
    return f"{count:g}"
