"""Example: adds up what all shards counted."""

import json
import os
from collections import Counter
from pathlib import Path

import cubeloom

words = Counter()
for path in Path(os.environ["CUBELOOM_SHARDS_DIR"]).glob("*/words.json"):
    words.update(json.loads(path.read_text()))
(cubeloom.run_dir / "words.json").write_text(json.dumps(words))
cubeloom.outputs(words=words.total(), different=len(words))
