"""Example: every worker counts the words of its share of the files below the pipeline's folder."""

import os
from pathlib import Path

import cubeloom

worker, workers = int(os.environ["JOB_COMPLETION_INDEX"]), int(os.environ["VC_WORKER_NUM"])
files = sorted(path for path in Path(os.environ["CUBELOOM_CODE"]).iterdir() if path.is_file())[worker::workers]
words = sum(len(path.read_text().split()) for path in files)
print(f"worker {worker} of {workers} at {os.environ['CUBELOOM_HOST']}: {words} words in {len(files)} files")
(cubeloom.run_dir / f"words-{worker}").write_text(f"{words}\n")
cubeloom.metric("words", words, step=worker)
