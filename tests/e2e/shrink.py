"""Reduces images to a palette of 256 colours: `shrink.py FILE...`.

The colours of most pixels stay exact. The rest of the palette covers the colours of few pixels, so that a
small mark keeps its own.
"""

import sys

from PIL import Image

#: Number of exact colours.
EXACT = 160

for path in sys.argv[1:]:
    picture = Image.open(path).convert("RGB")
    counted = sorted(picture.getcolors(picture.width * picture.height), reverse=True)
    exact = [colour for _, colour in counted[:EXACT]]
    rare = Image.new("RGB", (max(1, len(counted) - EXACT), 1))
    rare.putdata([colour for _, colour in counted[EXACT:]] or exact[:1])
    others = rare.quantize(256 - EXACT, method=Image.Quantize.MAXCOVERAGE).convert("RGB").getcolors()
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in [*exact, *(colour for _, colour in others)] for part in colour])
    picture.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)
