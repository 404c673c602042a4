"""Runs SQL with DuckDB over files, and writes what the last statement yields.

Files are read as they are asked for: of Parquet only the columns and row groups that the query needs. What does not fit
into the worker's memory is put aside on its disk.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import duckdb

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import cubeloom

CODE = Path(os.environ.get("CUBELOOM_CODE", os.getcwd()))
#: How files are read, by their names.
READERS = {
    ".parquet": "read_parquet",
    ".csv": "read_csv",
    ".csv.gz": "read_csv",
    ".tsv": "read_csv",
    ".json": "read_json",
    ".jsonl": "read_json",
    ".ndjson": "read_json",
}
#: How the result is written.
WRITERS = {
    ".parquet": "FORMAT parquet, COMPRESSION zstd",
    ".csv": "FORMAT csv, HEADER",
    ".tsv": "FORMAT csv, HEADER, DELIMITER '\t'",
    ".json": "FORMAT json, ARRAY true",
    ".jsonl": "FORMAT json",
}
#: The part of the worker's memory that DuckDB may have; Python, and what DuckDB does not count, have the rest.
SHARE = 0.7


class Mistake(Exception):
    """Something that the user can put right; the sentence names the argument."""


def main():
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)
    try:
        run(options)
    except (Mistake, duckdb.Error) as error:
        sys.exit(str(error).strip())


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--query", help="the statements")
    parser.add_argument("--script", help="or a file of the pipeline's folder that holds them")
    parser.add_argument("--inputs", nargs="*", type=named, default=[], help="views: orders=data/*.parquet ...")
    parser.add_argument("--output", help="the file that is written")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def named(word):
    name, _, place = word.partition("=")
    return name, place


def run(options):
    connection = duckdb.connect(config={"threads": options.threads})
    do(connection, f"SET temp_directory = {quoted(os.environ.get('TMPDIR', '/tmp'))}")
    if limit := memory():
        do(connection, f"SET memory_limit = '{int(limit * SHARE) >> 20}MiB'")
    for name, place in options.inputs:
        view(connection, name, place)
    *before, last = statements(options)
    for statement in before:
        do(connection, statement)
    if last.type != duckdb.StatementType.SELECT:
        do(connection, last)
        if options.output:
            raise Mistake("`output`: the last statement yields no rows to write; let it be a SELECT")
        return cubeloom.outputs(rows=0, columns=[])
    # Once: a second look would do the work again, and might find something else.
    do(connection, f"CREATE TEMP TABLE cubeloom_result AS (\n{text_of(last)}\n)")
    report(connection, options.output)


def do(connection, statement):
    """All of what it yields: a connection takes no other before."""
    return connection.execute(statement).fetchall()


def statements(options):
    text = options.query
    if options.script:
        path = CODE / options.script
        if not path.is_file():
            raise Mistake(f"`script`: {options.script!r} is not in the pipeline's folder: {path} does not exist")
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Mistake(f"`script`: {path} cannot be read: {error}") from None
    found = duckdb.extract_statements(text)
    if not found:
        raise Mistake("`query` holds no statement")
    return found


def text_of(statement):
    return statement.query.strip().removesuffix(";")


def view(connection, name, place):
    """What is at a place, under a name."""
    path = cubeloom.run_dir / place if "://" not in place else place
    suffix = next((suffix for suffix in sorted(READERS, key=len, reverse=True) if place.endswith(suffix)), None)
    if suffix is None:
        raise Mistake(f"`inputs.{name}`: {place!r} ends with none of {', '.join(READERS)}")
    try:
        do(connection, f"CREATE VIEW {identifier(name)} AS FROM {READERS[suffix]}({quoted(path)})")
    except duckdb.IOException as error:
        raise Mistake(f"`inputs.{name}`: {error}") from None


def report(connection, output):
    """Writes the result, shows its beginning, and tells the rest."""
    result = connection.table("cubeloom_result")
    ((rows,),) = do(connection, "SELECT count(*) FROM cubeloom_result")
    result.show(max_rows=20)
    if output:
        write(connection, output)
    found = do(connection, "SELECT to_json(r)::VARCHAR FROM cubeloom_result r LIMIT 1")
    first = json.loads(found[0][0]) if found else None
    cubeloom.outputs(rows=rows, columns=result.columns, first=first)


def write(connection, output):
    """Whole or not at all: aside first."""
    path = cubeloom.run_dir / output
    how = next((WRITERS[suffix] for suffix in WRITERS if path.name.endswith(suffix)), None)
    if how is None:
        raise Mistake(f"`output`: {output!r} ends with none of {', '.join(WRITERS)}")
    aside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Mistake(f"`output`: {error}") from None
    try:
        do(connection, f"COPY cubeloom_result TO {quoted(aside)} ({how})")
        aside.rename(path)
    except OSError as error:
        raise Mistake(f"`output`: {error}") from None
    finally:
        aside.unlink(missing_ok=True)
    if path.is_relative_to(cubeloom.run_dir):
        cubeloom.artifact(path.name, path)


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def identifier(name):
    return '"' + name.replace('"', '""') + '"'


def memory():
    """What this worker may have, in bytes, where a control group says so."""
    limits = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        files = [f"/sys/fs/cgroup{group}/memory.max", "/sys/fs/cgroup/memory.max"]
        if "memory" in controllers.split(","):
            files = [f"/sys/fs/cgroup/memory{group}/memory.limit_in_bytes"]
        elif controllers:
            continue
        for file in files:
            try:
                limits.append(int(Path(file).read_text()))
            except (OSError, ValueError):
                continue
    # Without a limit, version 1 says a number that no machine has.
    return min((limit for limit in limits if limit < 1 << 60), default=None)


if __name__ == "__main__":
    main()
