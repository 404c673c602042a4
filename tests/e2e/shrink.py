"""Gives pictures a palette of 128 colours, which pages do not show: `shrink.py FILE...`.

The palette covers the colours that there are, the rare ones too: a mark of few pixels keeps its own.
"""

import sys

from PIL import Image

for path in sys.argv[1:]:
    picture = Image.open(path).convert("RGB")
    picture.quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
