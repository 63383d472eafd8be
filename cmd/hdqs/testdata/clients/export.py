"""Reads exports with pyarrow and openpyxl, and prints for each line "format<TAB>url<TAB>field" of the
input its rows, the sum and the nulls of the field, and the names of its columns."""

import io
import sys
import urllib.request

import openpyxl
import pyarrow.ipc
import pyarrow.parquet


def sheet(file):
    rows = openpyxl.load_workbook(io.BytesIO(file.read()), read_only=True)["Records"].iter_rows(values_only=True)
    names = list(next(rows))
    return names, [dict(zip(names, row)) for row in rows]


def table(found):
    found.validate(full=True)
    return found.column_names, found.to_pylist()


READERS = {
    "arrow": lambda file: table(pyarrow.ipc.open_stream(file).read_all()),
    "parquet": lambda file: table(pyarrow.parquet.read_table(io.BytesIO(file.read()))),
    "xlsx": sheet,
}

for line in sys.stdin:
    form, url, field = line.rstrip("\n").split("\t")
    with urllib.request.urlopen(url) as answer:
        names, records = READERS[form](answer)
    values = [record[field] for record in records if record[field] is not None]
    print(len(records), f"{sum(values):.6f}", len(records) - len(values), ",".join(names), sep="\t")
