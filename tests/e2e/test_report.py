"""The page of `qwick bench serve --report`: whole, by itself, and really drawn by a browser."""
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree as ElementTree
import zlib

import pytest

from server import BINARY

# As few as keep a headless browser from the network and from the user's own settings.
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    done = subprocess.run([BINARY, "bench", "serve", "demo", "--mode", "all", "--rounds", "1", "--concurrency", "1,4", "--workloads",
                           "32/8,chat", "--rates", "50", "--model-name", "<mine> & 你的", "--report", path],
                          capture_output=True, text=True, timeout=300, check=True)
    assert f"the report is in {path}" in done.stderr
    return path


def test_whole_and_by_itself(page):
    text = page.read_text(encoding="utf-8")
    tree = ElementTree.fromstring(text.replace("<!DOCTYPE html>", ""))
    inside = {element.tag.rsplit("}")[-1] for element in tree.iter()}
    assert {"svg", "table", "h1"} <= inside and not inside & {"script", "link", "img", "iframe"}
    assert not re.search(r"(src|href)=|url\(|@import|https?://(?!www\.w3\.org/1999/xhtml)", text)
    assert "&lt;mine&gt; &amp; 你的: how fast it answers" in text
    assert text.count("<figure>") == 4 + 2 + 2  # by clients, by rates, by steps
    assert not re.search(r"\bnan\b|\binf\b|>null<", text)


def pixels(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and rows of three bytes a pixel of an 8-bit RGB or RGBA picture that is not interlaced."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, data, head = 8, b"", None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        head = body if kind == b"IHDR" else head
        data += body if kind == b"IDAT" else b""
        at += length + 12
    width, height, depth, colour = struct.unpack(">IIBB", head[:10])
    assert depth == 8 and colour in (2, 6)
    n = 3 if colour == 2 else 4
    raw, rows, before = zlib.decompress(data), [], bytes(width * n)
    for y in range(height):
        kind, *line = raw[y * (width * n + 1):(y + 1) * (width * n + 1)]
        for i, byte in enumerate(line):
            a, b, c = (line[i - n] if i >= n else 0), before[i], (before[i - n] if i >= n else 0)
            nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[i] = (byte + (0, a, b, (a + b) // 2, nearest)[kind]) & 255
        before = line
        rows.append(line)
    return width, height, [bytes(v for i, v in enumerate(row) if n == 3 or i % 4 < 3) for row in rows]


@pytest.mark.parametrize("width, extra", [(1200, []), (520, []), (1200, ["--blink-settings=preferredColorScheme=0"])])
def test_a_browser_draws_it(page, tmp_path, width, extra):
    if shutil.which("chromium") is None:
        pytest.skip("no chromium: install the package chromium")
    picture = tmp_path / "page.png"
    subprocess.run([*CHROMIUM, f"--user-data-dir={tmp_path}/profile", f"--screenshot={picture}", f"--window-size={width},1600", *extra,
                    page.as_uri()], capture_output=True, timeout=120, check=True)
    drawn_width, _, rows = pixels(picture.read_bytes())
    assert drawn_width == width
    colours = {}
    for row in rows:
        for i in range(0, len(row), 3):
            colours[row[i:i + 3]] = colours.get(row[i:i + 3], 0) + 1
    # The page, its cards, grey and black text, and the lines and bars of the charts.
    assert len(colours) > 100 and max(colours.values()) < 0.9 * width * len(rows)
    page_is_dark = sum(max(colours, key=colours.get)) < 200
    assert page_is_dark == bool(extra)
    blue = bytes.fromhex("56B4E9" if extra else "0072B2")
    assert colours.get(blue, 0) > 100, "no line of the first series"
    # Nothing hangs over at the right: the margin is empty.
    assert all(len(set(row[i:i + 3] for i in range(len(row) - 24, len(row), 3))) == 1 for row in rows)
