#!/usr/bin/env python3
"""Draws results of run.py: a panel for each figure, a bar for each engine, whiskers over the rounds.

    bench/peers/chart.py results.json > peers.svg
"""
import json
import pathlib
import sys
from xml.sax.saxutils import escape

from figures import MEASURES, measured, name_of, shown

WIDTH, LABELS, VALUES = 560, 170, 90
BAR, GAP, HEAD, COLUMNS = 13, 5, 34, 2
# From the palette of Okabe and Ito, made for all kinds of colour vision (jfly.uni-koeln.de/color).
OURS, THEIRS = "#0072B2", "#999999"


def panel(measure, engines: list[dict]) -> tuple[str, int]:
    bars = [(name_of(engine), figure) for engine in engines if (figure := measure.of(engine)) is not None]
    scale = (WIDTH - LABELS - VALUES) / max(figure["max"] for _, figure in bars)
    better = "more is better" if measure.more_is_better else "less is better"
    parts = [f'<text class="title" y="14">{escape(measure.title)} <tspan class="unit">{measure.unit}, {better}</tspan></text>']
    for i, (name, figure) in enumerate(bars):
        y = HEAD + i * (BAR + GAP)
        middle = y + BAR / 2
        low, median, high = (LABELS + scale * figure[key] for key in ("min", "median", "max"))
        parts.append(f'<text x="{LABELS - 6}" y="{y + BAR - 2}" text-anchor="end">{escape(name)}</text>'
                     f'<rect x="{LABELS}" y="{y}" width="{median - LABELS:.1f}" height="{BAR}" rx="2" '
                     f'fill="{OURS if name.startswith("qwick") else THEIRS}"/>'
                     f'<path d="M{low:.1f} {middle}H{high:.1f}" class="whisker"/>'
                     f'<text x="{high + 6:.1f}" y="{y + BAR - 2}" class="value">{shown(figure["median"])}</text>')
    return "".join(parts), HEAD + len(bars) * (BAR + GAP) + 22


def chart(results: dict) -> str:
    engines = measured(results)
    measures = [measure for measure in MEASURES if any(measure.of(engine) for engine in engines)]
    parts, y, height = [], 0, 0
    for i, measure in enumerate(measures):
        if i % COLUMNS == 0:
            y, height = y + height, 0
        drawn, own_height = panel(measure, engines)
        parts.append(f'<g transform="translate({i % COLUMNS * (WIDTH + 30)} {y})">{drawn}</g>')
        height = max(height, own_height)
    width = COLUMNS * WIDTH + (COLUMNS - 1) * 30
    style = ("text{font:12px system-ui,sans-serif;fill:#222}.title{font-weight:600;font-size:13px}"
             ".unit{font-weight:400;fill:#666}.value{font-variant-numeric:tabular-nums}.whisker{stroke:#222;stroke-width:1.5}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -12 {width + 24} {y + height + 12}" width="{width + 24}">'
            f'<style>{style}</style><rect x="-12" y="-12" width="{width + 24}" height="{y + height + 12}" fill="#fff"/>'
            + "".join(parts) + "</svg>\n")


if __name__ == "__main__":
    print(chart(json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))), end="")
