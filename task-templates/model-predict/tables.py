"""Reads tables, Parquet and CSV, in batches: no more than a batch is in memory, however long the table."""

import glob
from pathlib import Path

import pyarrow
from pyarrow import compute, csv, parquet

#: How tables are separated, by their ending.
TEXTS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t"}
ENDINGS = (".parquet", *TEXTS)
#: How much of a text is read at once; no row may be longer.
BLOCK = 1 << 20


class Mistake(Exception):
    """Something that the user can put right; the sentence names the argument."""


def files_of(place, folder):
    """The files at a path, below a folder or by a pattern, in order; `place` is relative to `folder`."""
    path = folder / place
    if path.is_file():
        found = [path]
    elif path.is_dir():
        # What begins with these is no table: _SUCCESS, checksums, what is being written.
        hidden = lambda file: any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
        found = [file for file in path.rglob("*") if file.name.endswith(ENDINGS) and not hidden(file)]
    else:
        found = [file for name in glob.glob(str(path), recursive=True) if (file := Path(name)).is_file()]
    if not found:
        raise Mistake(f"`data`: nothing is at {path}; name a file, a folder or a pattern, relative to the run's folder")
    for file in found:
        if not file.name.endswith(ENDINGS):
            raise Mistake(f"`data`: {file} ends with none of {', '.join(ENDINGS)}")
    return sorted(found)


class Table:
    """One file. Of a text all columns are text until somebody wants numbers: `007` stays what it is."""

    def __init__(self, path):
        self.path = path
        self.delimiter = next((TEXTS[ending] for ending in TEXTS if path.name.endswith(ending)), None)
        try:
            self.schema = self.schema_of_text() if self.delimiter else parquet.read_schema(path)
        except (OSError, pyarrow.ArrowInvalid) as error:
            kind = "table" if self.delimiter else "Parquet file"
            raise Mistake(f"`data`: {path} is no {kind} that can be read: {first_line(error)}") from None
        self.columns = self.schema.names

    def schema_of_text(self):
        """Its first line has the names."""
        with self.text(None) as reader:
            return pyarrow.schema([(name, pyarrow.string()) for name in reader.schema.names])

    def text(self, columns):
        """A reader of these columns as they stand, or of all as they look."""
        return csv.open_csv(
            self.path,
            # With threads it reads ahead, and memory grows with the file.
            csv.ReadOptions(block_size=BLOCK, use_threads=False),
            csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            csv.ConvertOptions(
                include_columns=columns,
                column_types={name: pyarrow.string() for name in columns or []},
                strings_can_be_null=False,
            ),
        )

    def need(self, columns, argument):
        """Fails if one of these columns is not there."""
        for name in columns:
            if name not in self.columns:
                known = ", ".join(self.columns[:20]) + (", ..." if len(self.columns) > 20 else "")
                raise Mistake(f"`{argument}`: {self.path} has no column {name!r}; it has {known}")
            if self.columns.count(name) > 1:
                raise Mistake(f"`{argument}`: {self.path} has several columns {name!r}")

    def rows(self):
        """How many rows there are; a text has to be read for that."""
        if not self.delimiter:
            return parquet.read_metadata(self.path).num_rows
        return sum(batch.num_rows for batch in self.read(self.columns[:1]))

    def batches(self, columns, size, wanted=None):
        """Pairs of the number of the first row and at most `size` rows. With `wanted`, a sorted list of pairs of a first row
        and the row behind the last one, no batch has rows of two of them, and what is outside is passed over."""
        wanted = wanted or [(0, float("inf"))]
        for start, batch in self.blocks(columns, size, wanted):
            for first, behind in wanted:
                low, high = max(start, first), min(start + batch.num_rows, behind)
                for at in range(low, int(high), size) if low < high else ():
                    yield at, batch.slice(at - start, min(size, int(high) - at))

    def blocks(self, columns, size, wanted):
        """Pairs of the number of the first row and rows, as the file is written."""
        start = 0
        if self.delimiter:
            for batch in self.read(columns):
                yield start, batch
                start += batch.num_rows
                if start >= wanted[-1][1]:
                    return
            return
        try:
            with parquet.ParquetFile(self.path) as file:
                for group in range(file.num_row_groups):
                    behind = start + file.metadata.row_group(group).num_rows
                    if any(first < behind and start < last for first, last in wanted):
                        for batch in file.iter_batches(size, row_groups=[group], columns=columns):
                            yield start, batch.select(columns)
                            start += batch.num_rows
                    start = behind
        except (OSError, pyarrow.ArrowException) as error:
            raise Mistake(f"`data`: {self.path} cannot be read: {first_line(error)}") from None

    def read(self, columns):
        try:
            with self.text(columns) as reader:
                yield from reader
        except (OSError, pyarrow.ArrowException) as error:
            raise Mistake(f"`data`: {self.path} cannot be read: {first_line(error)}") from None


def numbers(column, name, path):
    """A column as 64-bit numbers; what is empty is no number (NaN)."""
    if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
        column = compute.utf8_trim_whitespace(column)
        empty = compute.is_in(column, pyarrow.array(["", "NA", "NaN", "nan", "null"], column.type))
        column = compute.if_else(empty, pyarrow.scalar(None, column.type), column)
    elif pyarrow.types.is_dictionary(column.type):
        return numbers(column.dictionary_decode(), name, path)
    try:
        if pyarrow.types.is_boolean(column.type):
            column = column.cast(pyarrow.int8())
        found = column.cast(pyarrow.float64(), safe=False)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        raise Mistake(f"`data`: the column {name!r} of {path} has what is no number: {first_line(error)}") from None
    return found.to_numpy(zero_copy_only=False)


def texts(column):
    """A column as texts; what is empty is an empty text."""
    return compute.fill_null(column.cast(pyarrow.string()), "").to_numpy(zero_copy_only=False)


def first_line(error):
    return str(error).strip().partition("\n")[0]
