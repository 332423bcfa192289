#!/usr/bin/env python3
"""Draws what a terminal shows as an SVG: `tmux capture-pane -e -p | draw.py > docs/denial.svg`."""
import html
import re
import sys

WIDTH, HEIGHT, LEFT, TOP = 8.4, 19, 16.0, 30
PLAIN, GROUND = "#e1e4e8", "#1b1f23"
BASIC = ["#586069", "#f97583", "#85e89d", "#ffea7f", "#79b8ff", "#b392f0", "#56d4dd", "#d1d5da"]


def colour(number):
    """A colour of the 256 that terminals know, by its number."""
    if number < 16:
        return BASIC[number % 8]
    if number > 231:
        return f"#{(8 + 10 * (number - 232)):02x}" * 1 + f"{(8 + 10 * (number - 232)):02x}" * 2
    number -= 16
    return "#" + "".join(f"{(0, 95, 135, 175, 215, 255)[part]:02x}" for part in (number // 36, number // 6 % 6, number % 6))


def apply(codes, style):
    """The style after the numbers of one escape sequence."""
    codes = [int(code or 0) for code in codes.split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = {}
        elif code == 1:
            style = {**style, "font-weight": "bold"}
        elif code in (38, 48):
            kind = codes.pop(0)
            shade = colour(codes.pop(0)) if kind == 5 else "#%02x%02x%02x" % tuple(codes.pop(0) for _ in range(3))
            style = {**style, "fill" if code == 38 else "ground": shade}
        elif code in (39, 49):
            style = {key: value for key, value in style.items() if key != ("fill" if code == 39 else "ground")}
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style = {**style, "fill": BASIC[code % 10]}
        elif code == 22:
            style = {key: value for key, value in style.items() if key != "font-weight"}
    return style


def main():
    lines = [line.rstrip("\n") for line in sys.stdin]
    columns = 0
    body = []
    for row, line in enumerate(lines):
        at, style, y = 0, {}, TOP + row * HEIGHT
        for part in re.split(r"(\x1b\[[0-9;]*m)", line):
            if part.startswith("\x1b"):
                style = apply(part[2:-1], style)
                continue
            if not part:
                continue
            x, wide = LEFT + at * WIDTH, len(part) * WIDTH
            at += len(part)
            if "ground" in style:
                body.append(f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{HEIGHT}" fill="{style["ground"]}"/>')
            if part.strip():
                weight = ' font-weight="bold"' if "font-weight" in style else ""
                fill = style.get("fill", PLAIN)
                body.append(
                    f'<text x="{x:.1f}" y="{y + 14}" fill="{fill}"{weight} textLength="{wide:.1f}" '
                    f'xml:space="preserve">{html.escape(part)}</text>'
                )
        columns = max(columns, at)
    wide, high = int(2 * LEFT + columns * WIDTH), TOP + len(lines) * HEIGHT + 16
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" role="img" '
        'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14">'
        f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>'
        + "".join(f'<circle cx="{20 + 18 * n}" cy="16" r="5" fill="{BASIC[c]}"/>' for n, c in enumerate((1, 3, 2)))
    )
    print("\n".join(body) + "\n</svg>")


main()
