"""Two kinds of plots as SVG text, readable on light and dark pages: lines and bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

WIDTH = 760
EDGE = 16
LEFT, RIGHT, TOP = 76, 130, 54
LINES_HEIGHT = 400
ROW, BAR = 26, 16
NAMES = 210  # pixels for the names of bars

_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.paper { fill: #ffffff }
.title { font-weight: 600; font-size: 15px }
.quiet { fill: #59636e }
.grid { stroke: #d1d9e0; stroke-width: 1 }
.us { fill: #0969da; stroke: #0969da }
.a { fill: #bc4c00; stroke: #bc4c00 }
.b { fill: #1a7f37; stroke: #1a7f37 }
.c { fill: #6e7781; stroke: #6e7781 }
text.us, text.a, text.b, text.c { stroke: none; font-weight: 600 }
@media (prefers-color-scheme: dark) {
  .paper { fill: #0d1117 }
  text { fill: #e6edf3 }
  .quiet { fill: #9198a1 }
  .grid { stroke: #3d444d }
  .us { fill: #4493f8; stroke: #4493f8 }
  .a { fill: #f0883e; stroke: #f0883e }
  .b { fill: #3fb950; stroke: #3fb950 }
  .c { fill: #9198a1; stroke: #9198a1 }
}
.line { fill: none; stroke-width: 2.5 }
"""

Series = Mapping[str, Sequence[tuple[float, float]]]
Show = Callable[[float], str]


def lines(title: str, subtitle: str, series: Series, show_x: Show, show_y: Show) -> str:
    """Lines on two logarithmic axes, each named at its end."""
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points]
    x_low, x_high = math.log10(min(xs)), math.log10(max(xs))
    y_low, y_high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
    bottom = LINES_HEIGHT - 40

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - x_low) / max(x_high - x_low, 1e-9)
        up = (math.log10(y) - y_low) / max(y_high - y_low, 1)
        return LEFT + across * (WIDTH - LEFT - RIGHT), bottom - up * (bottom - TOP)

    parts = []
    for power in range(y_low, y_high + 1):
        _, y = place(min(xs), 10.0**power)
        parts.append(_rule(LEFT, y, WIDTH - RIGHT, y))
        parts.append(_text(LEFT - 8, y + 4, show_y(10.0**power), "quiet", "end"))
    for tick in sorted(set(xs)):
        x, _ = place(tick, min(ys))
        parts.append(_text(x, bottom + 22, show_x(tick), "quiet", "middle"))
    for (name, points), colour in zip(series.items(), _colours(list(series)), strict=True):
        placed = [place(*point) for point in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(f'<polyline class="line {colour}" points="{path}"/>')
        parts += [f'<circle class="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in placed]
        parts.append(_text(placed[-1][0] + 10, placed[-1][1] + 4, name, colour))
    return _svg(title, subtitle, LINES_HEIGHT, parts)


def bars(title: str, subtitle: str, groups: Mapping[str, Mapping[str, float]], show: Show) -> str:
    """Groups of horizontal bars on one linear axis, each with its figure."""
    longest = max(figure for group in groups.values() for figure in group.values())
    space = WIDTH - NAMES - 130
    parts = []
    y = TOP
    for heading, group in groups.items():
        y += ROW
        parts.append(_text(0, y, heading, "quiet"))
        y += 8
        for (name, figure), colour in zip(group.items(), _colours(list(group)), strict=True):
            width = max(1.0, space * figure / longest)
            parts.append(_text(NAMES - 10, y + BAR - 3, name, "", "end"))
            parts.append(
                f'<rect class="{colour}" x="{NAMES}" y="{y}" width="{width:.1f}" height="{BAR}"/>'
            )
            parts.append(_text(NAMES + width + 8, y + BAR - 3, show(figure)))
            y += ROW
    return _svg(title, subtitle, y + 10, parts)


def _colours(names: Sequence[str]) -> list[str]:
    """Ours has a colour of its own, and so have the two best known peers."""
    known = (("toprung", "us"), ("Redis", "a"), ("redis", "a"), ("PostgreSQL", "b"))
    return [next((c for start, c in known if name.startswith(start)), "c") for name in names]


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    marked = f' class="{kind}"' if kind else ""
    return f'<text{marked} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(title: str, subtitle: str, height: float, parts: Sequence[str]) -> str:
    wide, high = WIDTH + 2 * EDGE, round(height) + 2 * EDGE
    box = f'viewBox="{-EDGE} {-EDGE} {wide} {high}"'
    paper = f'x="{-EDGE}" y="{-EDGE}" width="{wide}" height="{high}" rx="8"'
    label = escape(f"{title}: {subtitle}")
    header = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" aria-label="{label}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" {paper}/>',
        _text(0, 18, title, "title"),
        _text(0, 37, subtitle, "quiet"),
    )
    return "\n".join((*header, *parts, "</svg>\n"))
