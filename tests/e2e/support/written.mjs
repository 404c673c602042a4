// A gang that writes a log, a task that writes a long one, and a task that leaves files of every kind.

/** Three workers: lines, one of them long, and a last line once the file `gate` exists. */
export const gang = (gate) => `apiVersion: cubeloom/v1
kind: Pipeline
name: gang
tasks:
  - name: talk
    template: indexed
    resources: {cpu: 100m, memory: 64Mi}
    arguments:
      workers: 3
      command:
        - sh
        - -c
        - |
          me=$JOB_COMPLETION_INDEX
          printf 'long%2000s\\n' "$me" | tr ' ' .
          i=0; while [ $i -lt 300 ]; do echo line $i of worker $me; i=$((i+1)); done
          echo a warning of $me >&2
          until test -e ${gate}; do sleep 0.1; done
          echo the end of $me
`;

/** 24,000 lines of 203 bytes, and one that looks like an error between them. Its workload takes four seconds. */
export const long = `apiVersion: cubeloom/v1
kind: Pipeline
name: long
tasks:
  - name: talk
    template: command
    resources: {cpu: 100m, memory: 64Mi}
    arguments:
      command:
        - sh
        - -c
        - |
          seq -f 'step %06.0f ${"x".repeat(190)}' 1 12000
          sleep 2
          echo 'ValueError: no data in shard 7' >&2
          sleep 2
          seq -f 'step %06.0f ${"x".repeat(190)}' 12001 24000
`;

const PROGRAM = String.raw`
import json, os, struct, zlib

here = os.environ["CUBELOOM_RUN_DIR"]

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

rows = b"".join(b"\0" + bytes((x * 4 + y) % 256 for x in range(64)) for y in range(48))
picture = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 48, 8, 0, 0, 0, 0))
picture += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
files = {
    "shades.png": picture,
    "table.csv": b"step,loss\n1,0.5\n2,0.25\n",
    "data.json": b'{"deep": {"er": [1, 2]}}',
    "page.html": b"<p id=p>it runs nothing</p><script>document.getElementById('p').textContent = 'it ran'</script>",
    "notes.txt": b"<b>only text</b>\n",
}
for name, content in files.items():
    with open(os.path.join(here, name), "wb") as file:
        file.write(content)
    with open(os.environ["CUBELOOM_OUTPUTS"], "a") as file:
        file.write(json.dumps({"artifact": {"name": name.split(".")[0], "path": name}}) + "\n")
`;

/** Files with a preview: an image, a table, JSON, a page, a text. */
export const files = JSON.stringify({
  apiVersion: "cubeloom/v1",
  kind: "Pipeline",
  name: "files",
  tasks: [{ name: "make", template: "command", arguments: { command: ["python3", "-c", PROGRAM] } }],
});
