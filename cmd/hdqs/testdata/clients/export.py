"""Reads exports with pyarrow and openpyxl, and prints for each line "format<TAB>url<TAB>field" of the
input its rows, the sum and the nulls of the field, and the names of its columns."""

import io
import sys
import urllib.request

import openpyxl
import pyarrow.ipc
import pyarrow.parquet

from leave import leave


def sheet(file, _):
    rows = openpyxl.load_workbook(io.BytesIO(file.read()), read_only=True)["Records"].iter_rows(values_only=True)
    names = list(next(rows))
    return names, [dict(zip(names, row)) for row in rows]


def table(found, field):
    found.validate(full=True)
    return found.column_names, found.select([field]).to_pylist()


READERS = {
    "arrow": lambda file, field: table(pyarrow.ipc.open_stream(file).read_all(), field),
    "parquet": lambda file, field: table(pyarrow.parquet.read_table(io.BytesIO(file.read())), field),
    "xlsx": sheet,
}

for line in sys.stdin:
    form, url, field = line.rstrip("\n").split("\t")
    with urllib.request.urlopen(url) as answer:
        names, records = READERS[form](answer, field)
    values = [record[field] for record in records if record[field] is not None]
    print(len(records), f"{sum(values):.6f}", len(records) - len(values), ",".join(names), sep="\t")
leave()
