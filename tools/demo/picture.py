"""A drawing of what happened when: lanes over one axis of seconds, as SVG that is legible on light and dark pages."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from xml.sax.saxutils import escape, quoteattr

_WIDTH, _LEFT, _RIGHT, _TOP = 1000, 132, 20, 56
_LANE, _BAND = 58, 26
_STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
_CHARACTER = 6.4
_MOST_MARKS = 12


class Paint(StrEnum):
    """What a thing is, from which its colour follows."""

    WRITE = "write"
    WRONG = "wrong"
    PLAN = "plan"
    BASE = "base"
    CATCH_UP = "catch-up"
    READY = "ready"
    DROPPED = "dropped"
    RUN = "run"
    LOOK_UP = "look-up"


@dataclass(frozen=True, slots=True)
class Span:
    begin: float
    end: float
    paint: Paint
    label: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    at: float
    paint: Paint
    label: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    name: str
    spans: tuple[Span, ...] = ()
    moments: tuple[Moment, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """`seconds` is how far the axis goes; all times are counted from its beginning."""

    title: str
    caption: str
    seconds: float
    lanes: tuple[Lane, ...]


def svg(picture: Picture) -> str:
    """The same text for the same picture."""
    bottom = _TOP + _LANE * len(picture.lanes)
    height = bottom + 56
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f"aria-label={quoteattr(picture.title)}>",
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{_WIDTH}" height="{height}" rx="8"/>',
        _text(16, 24, "title", picture.title),
        _text(16, 42, "small", picture.caption),
    ]
    scale = _Scale(picture.seconds)
    lines += _axis(scale, bottom)
    for position, lane in enumerate(picture.lanes):
        lines += _lane(lane, scale, _TOP + _LANE * position)
    return "\n".join([*lines, *_legend(picture, bottom + 42), "</svg>", ""])


@dataclass(frozen=True, slots=True)
class _Scale:
    seconds: float

    def x(self, at: float) -> float:
        whole = _WIDTH - _LEFT - _RIGHT
        return _LEFT + whole * min(max(at / self.seconds, 0.0), 1.0)

    def marks(self) -> list[int]:
        step = next((step for step in _STEPS if self.seconds / step <= _MOST_MARKS), _STEPS[-1])
        return list(range(0, int(self.seconds) + 1, step))


def _axis(scale: _Scale, bottom: float) -> Iterator[str]:
    for mark in scale.marks():
        x = scale.x(mark)
        yield f'<line class="grid" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{bottom}"/>'
        yield _text(x, bottom + 18, "small middle", f"{mark} s")


def _lane(lane: Lane, scale: _Scale, top: float) -> Iterator[str]:
    middle = top + _LANE / 2 + 6
    yield _text(16, middle + 4, "name", lane.name)
    yield f'<line class="grid" x1="{_LEFT}" y1="{middle:.1f}" x2="{_WIDTH - _RIGHT}" y2="{middle:.1f}"/>'
    for span in lane.spans:
        yield from _span(span, scale, middle)
    yield from _labels(lane, scale, middle)
    for moment in lane.moments:
        x = scale.x(moment.at)
        yield f'<circle class="{moment.paint}" cx="{x:.1f}" cy="{middle:.1f}" r="5"/>'


def _span(span: Span, scale: _Scale, middle: float) -> Iterator[str]:
    left, right = scale.x(span.begin), scale.x(span.end)
    width = max(right - left, 1.5)
    place = f'x="{left:.1f}" y="{middle - _BAND / 2:.1f}" width="{width:.1f}" height="{_BAND}"'
    told = f"{span.label or span.paint}: {span.begin:.1f} s to {span.end:.1f} s"
    yield f'<rect class="{span.paint}" {place} rx="2"><title>{escape(told)}</title></rect>'
    if _fits(span, scale):
        yield _text((left + right) / 2, middle + 4, "inside middle", span.label)


def _fits(span: Span, scale: _Scale) -> bool:
    return bool(span.label) and scale.x(span.end) - scale.x(span.begin) > _CHARACTER * len(span.label) + 6


def _labels(lane: Lane, scale: _Scale, middle: float) -> Iterator[str]:
    """What does not fit into what it names stands above it, each right of the one before, unless the legend has it."""
    spans = [span for span in lane.spans if span.label not in ("", span.paint) and not _fits(span, scale)]
    outside = [(span.begin, span.label) for span in spans]
    outside += [(moment.at, moment.label) for moment in lane.moments if moment.label]
    return _above(sorted(outside), scale, middle)


def _above(labels: Iterable[tuple[float, str]], scale: _Scale, middle: float) -> Iterator[str]:
    free = 0.0
    for at, label in labels:
        wide = _CHARACTER * len(label)
        x = min(max(scale.x(at) - 4, free), _WIDTH - _RIGHT - wide)
        free = x + wide + 8
        yield _text(x, middle - _BAND / 2 - 5, "small", label)


def _legend(picture: Picture, y: float) -> Iterator[str]:
    drawn = {span.paint for lane in picture.lanes for span in lane.spans}
    drawn |= {moment.paint for lane in picture.lanes for moment in lane.moments}
    x = float(_LEFT)
    for paint in (paint for paint in Paint if paint in drawn):
        yield f'<rect class="{paint}" x="{x:.1f}" y="{y - 9:.1f}" width="10" height="10" rx="2"/>'
        yield _text(x + 15, y, "small", _MEANING[paint])
        x += 15 + _CHARACTER * len(_MEANING[paint]) + 14


def _text(x: float, y: float, style: str, words: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


_MEANING = {
    Paint.WRITE: "commit",
    Paint.WRONG: "commit of a misconfigured job",
    Paint.PLAN: "plan",
    Paint.BASE: "base",
    Paint.CATCH_UP: "catch-up",
    Paint.READY: "ready",
    Paint.DROPPED: "dropped",
    Paint.RUN: "run",
    Paint.LOOK_UP: "look-up",
}
_STYLE = (
    "text{font-family:ui-sans-serif,system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2328}"
    ".title{font-size:15px;font-weight:600}.name{font-size:13px}.small{font-size:11px;fill:#59636e}"
    ".inside{font-size:11px;fill:#ffffff;font-weight:600}.middle{text-anchor:middle}"
    ".page{fill:#ffffff;stroke:#d1d9e0}.grid{stroke:#d1d9e0;stroke-width:1}"
    ".write{fill:#8c959f}.wrong{fill:#cf222e}.plan{fill:#9a6700}.base{fill:#0969da}.catch-up{fill:#8250df}"
    ".ready{fill:#1a7f37}.dropped{fill:#cf222e}.run{fill:#1b7c83}.look-up{fill:#bc4c00}"
    "@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.small{fill:#9198a1}.inside{fill:#ffffff}"
    ".page{fill:#0d1117;stroke:#3d444d}.grid{stroke:#3d444d}"
    ".write{fill:#7d8590}.wrong{fill:#da3633}.plan{fill:#9e6a03}.base{fill:#1f6feb}.catch-up{fill:#8957e5}"
    ".ready{fill:#238636}.dropped{fill:#da3633}.run{fill:#1b7c83}.look-up{fill:#db6d28}}"
)
