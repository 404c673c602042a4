"""Gives pictures a palette of 128 colours, which pages do not show: `shrink.py FILE...`."""

import sys

from PIL import Image

for path in sys.argv[1:]:
    picture = Image.open(path).convert("RGB")
    picture.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
