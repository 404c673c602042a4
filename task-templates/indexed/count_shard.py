"""Example: counts the words of this shard's share of the files below the pipeline's folder."""

import json
import os
from collections import Counter
from pathlib import Path

shard, shards = int(os.environ["CUBELOOM_SHARD"]), int(os.environ["CUBELOOM_SHARDS"])
files = sorted(path for path in Path(os.environ["CUBELOOM_CODE"]).iterdir() if path.is_file())[shard::shards]
words = Counter(word for path in files for word in path.read_text().split())
print(f"{words.total()} words in {len(files)} files")
Path(os.environ["CUBELOOM_SHARD_DIR"], "words.json").write_text(json.dumps(words))
