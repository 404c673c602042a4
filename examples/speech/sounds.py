"""Says YES and NO in sounds that it makes up itself: a word is a pair of tones, rising or falling, with silence between words and
noise over everything. Nobody has recorded anything, and a recogniser of this knows no language.

It writes what recipes of Kaldi read (wav.scp, text, utt2spk, spk2utt) and the lists that WeNet reads (data.list).

    sounds.py FOLDER SEED
"""

import json
import math
import random
import struct
import sys
import wave
from pathlib import Path

RATE = 8000  # samples in a second
NOISE = 0.02  # of the loudest that a sample can be
#: Of each word, the two tones in hertz, and how far they have moved at its end.
WORDS = {"YES": (600, 1500, 1.2), "NO": (400, 1000, 0.8)}
#: A speaker has a pitch, and is in both sets; there are parts for as many workers.
SPEAKERS = {"ada": 0.9, "bea": 1.0, "cyd": 1.1, "dan": 1.2}
UTTERANCES = {"train": 12, "test": 5}  # of each speaker
LENGTH = 6  # words in an utterance


def main(folder, seed):
    chance = random.Random(seed)
    for name, count in UTTERANCES.items():
        told = [(f"{who}-{name}-{number:02}", who) for who in SPEAKERS for number in range(count)]
        write(folder / name, [(key, who, *say(folder / "wav" / f"{key}.wav", SPEAKERS[who], chance)) for key, who in told])


def say(file, pitch, chance):
    """Writes an utterance; the file, and what was said."""
    words = [chance.choice(list(WORDS)) for _ in range(LENGTH)]
    samples = silence(chance)
    for word in words:
        samples += tones(word, pitch * chance.uniform(0.97, 1.03), chance.uniform(0.25, 0.35)) + silence(chance)
    samples = [max(-1, min(1, sample + chance.gauss(0, NOISE))) for sample in samples]
    file.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(struct.pack(f"<{len(samples)}h", *(round(sample * 32767) for sample in samples)))
    return file, " ".join(words)


def silence(chance):
    return [0.0] * int(chance.uniform(0.15, 0.25) * RATE)


def tones(word, pitch, seconds):
    low, high, moved = WORDS[word]
    count, turned, samples = int(seconds * RATE), 0.0, []
    for number in range(count):
        done = number / count
        turned += 2 * math.pi * pitch * (1 + (moved - 1) * done) / RATE
        # It swells and fades, as nothing that is said begins at its loudest.
        samples.append(0.3 * math.sin(math.pi * done) * (math.sin(low * turned) + math.sin(high * turned)))
    return samples


def write(folder, told):
    """The same utterances for Kaldi and for WeNet, in the order of their names."""
    folder.mkdir(parents=True, exist_ok=True)
    told.sort()
    files = {
        "wav.scp": [f"{key} {file}" for key, _, file, _ in told],
        "text": [f"{key} {words}" for key, _, _, words in told],
        "utt2spk": [f"{key} {who}" for key, who, _, _ in told],
        "spk2utt": [f"{who} {' '.join(key for key, other, _, _ in told if other == who)}" for who in sorted(SPEAKERS)],
        "data.list": [json.dumps({"key": key, "wav": str(file), "txt": words}) for key, _, file, words in told],
    }
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n")


main(Path(sys.argv[1]), int(sys.argv[2]))
