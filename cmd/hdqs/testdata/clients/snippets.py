"""Runs the programs that pages of records show: snippets.py LANGUAGE < PLAN.

A line of the plan is a number and a file, with a tab between. For each, this prints the number and the records that were read.
"""

import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

from leave import leave


def curl(code):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["sh", "-eu", "-c", code], cwd=folder, check=True)
        file = pathlib.Path(folder, "records.csv")
        with file.open(encoding="utf-8", newline="") as lines:
            return max(0, sum(1 for _ in csv.reader(lines)) - 1)


def python(code):
    names = {}
    exec(compile(code, "snippet", "exec"), names)
    return len(names["records"])


def duckdb(code):
    import duckdb as db
    import duckdb_extension_httpfs as httpfs

    connection = db.connect()
    [extension] = pathlib.Path(httpfs.__file__).parent.rglob("httpfs.duckdb_extension")
    connection.load_extension(str(extension))
    without = "\n".join(line for line in code.splitlines() if line not in ("INSTALL httpfs;", "LOAD httpfs;"))
    assert code.startswith("INSTALL httpfs;\nLOAD httpfs;\n")  # from a package here, so that no other host is asked
    connection.execute(without)
    return connection.sql("SELECT count(*) FROM records").fetchone()[0]


TEXT = r'"((?:[^"]|"")*)"'


def m(code):
    """Fetches what the query's Web.Contents names."""
    base, path = re.search(rf"Web\.Contents\({TEXT}, \[\s*RelativePath = {TEXT},", code).groups()
    record = re.search(r"Query = \[(.*)\],\n", code).group(1)
    identifier = re.search(rf'#"X-HDX-HAPI-APP-IDENTIFIER" = {TEXT}', code).group(1)
    assert "Answer[data]" in code, code
    pairs = []
    for name, one, several in re.findall(rf"#{TEXT} = (?:{TEXT}|\{{(.*?)\}})(?=, #|$)", record):
        values = [v for v in re.findall(TEXT, several)] if several else [one]
        pairs += [(name.replace('""', '"'), v.replace('""', '"')) for v in values]
    query = urllib.parse.urlencode(pairs)
    request = urllib.request.Request(f"{base}/{path}?{query}", headers={"X-HDX-HAPI-APP-IDENTIFIER": identifier})
    return len(json.load(urllib.request.urlopen(request))["data"])


for line in sys.stdin:
    number, file = line.rstrip("\n").split("\t")
    print(number, globals()[sys.argv[1]](pathlib.Path(file).read_text(encoding="utf-8")), sep="\t", flush=True)
leave()
