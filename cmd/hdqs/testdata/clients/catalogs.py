"""Reads bulk files as catalogs and OCHA's explorer do: catalogs.py URL TREE.

URL is a server of a store with bulk files in all formats, TREE an export of the same snapshot. What is wrong is printed; the
exit code is then 1.

- pystac reads and validates the STAC documents, by URL. Their columns and counts must be those of the files.
- frictionless validates datapackage.json, by URL and in the tree, and must notice a file that was changed.
- mlcroissant validates croissant.json in the tree and reads a record set of each table.
- The charts of the explorer of "HDX HAPI Cloud-Native" are asked of DuckDB by URL, in the form of its requests, with only the base
  changed. Each figure must be the one that the same question about the records of the lists gives.
"""

import collections
import importlib
import json
import os
import pathlib
import shutil
import sys
import urllib.error
import urllib.parse
import urllib.request

import duckdb
import frictionless
import mlcroissant
import pystac
import pystac.validation

from leave import leave

BASE, TREE = sys.argv[1].rstrip("/") + "/hapi", sys.argv[2]
IDENTIFIER = "Y2F0YWxvZ3M6Y2F0YWxvZ3NAZXhhbXBsZS5vcmc="
failures = 0


def check(what, good, found=""):
    global failures
    if not good:
        failures += 1
        print(f"{what}: {found}")


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return answer.geturl(), answer.read()


def exists(url):
    """Whether a file is there, as the explorer finds out."""
    try:
        return get(url, Range="bytes=0-3")[1] == b"PAR1"
    except urllib.error.HTTPError as e:
        check(url, e.code == 404, e.code)
        return False


database = duckdb.connect()
module = importlib.import_module("duckdb_extension_httpfs")
[extension] = pathlib.Path(module.__file__).parent.rglob("httpfs.duckdb_extension")
database.load_extension(str(extension))
database.execute("SET enable_http_metadata_cache = true")


def query(sql):
    return database.execute(sql).fetchall()


# STAC


def stac():
    latest, *_ = pystac.Catalog.from_file(f"{BASE}/bulk/index.json").get_children()
    check("the first collection of the index", latest.get_self_href() == f"{LATEST}/collection.json", latest.get_self_href())
    root = pystac.Collection.from_file(f"{BASE}/bulk/collection.json")
    items, documents = {}, [root]
    for child in root.get_children():
        documents.append(child)
        for item in child.get_items():
            documents.append(item)
            items[item.id] = item
            check(f"{item.id}: collection", item.collection_id == child.id, item.collection_id)
    for document in documents:
        text = document.to_dict(include_self_link=False)
        text["stac_extensions"] = []  # its schema is not on this machine; what it asks for is looked at below
        pystac.validation.validate_dict(text)
    check("STAC documents", len(documents) == 32, len(documents))  # as many as OCHA has
    for name, item in items.items():
        files = "[" + ", ".join(f"'{a.get_absolute_href()}'" for a in item.assets.values()) + "]"
        columns = [(c["name"], c["type"]) for c in item.properties["table:columns"]]
        kinds = {"VARCHAR": "string", "BIGINT": "int64", "DOUBLE": "double", "BOOLEAN": "bool"}
        found = [(row[0], kinds.get(row[1])) for row in
                 query(f"DESCRIBE SELECT * FROM read_parquet({files}, hive_partitioning = false)")]
        check(f"{name}: columns", found == columns, f"{found}, the item has {columns}")
        [(rows,)] = query(f"SELECT count(*) FROM read_parquet({files})")
        check(f"{name}: rows", rows == item.properties["table:row_count"], rows)
    print(f"STAC: {len(documents)} documents, {len(items)} items")


# Frictionless and Croissant


def packages():
    for where in (f"{LATEST}/datapackage.json", f"{TREE}/datapackage.json"):
        report = frictionless.validate(where)
        check(where, report.valid and len(report.tasks) == 25, report.flatten(["name", "message"]))
        print(f"frictionless: {len(report.tasks)} resources valid")
    damaged = f"{TREE}-damaged"
    shutil.copytree(TREE, damaged, symlinks=False)
    with open(f"{damaged}/csv/funding.csv.gz", "r+b") as f:
        f.seek(4)  # the time in the header of gzip: what is unpacked stays the same
        f.write(b"\x01")
    report = frictionless.validate(f"{damaged}/datapackage.json")
    check("frictionless on a changed file", not report.valid and "hash" in str(report.flatten(["message"])), report.valid)


def croissant():
    dataset = mlcroissant.Dataset(jsonld=f"{TREE}/croissant.json")
    issues = dataset.metadata.ctx.issues
    check("croissant", not issues.errors, issues.report())
    rows = {t["table"]: t["rows"] for t in json.load(open(f"{TREE}/manifest.json"))["tables"]}
    sets = [s.id for s in dataset.metadata.record_sets]
    check("record sets", sorted(sets) == sorted(name for name, n in rows.items() if n), sets)
    for name in sets:
        records = sum(1 for _ in dataset.records(record_set=name))
        check(f"croissant {name}", records == rows[name], f"{records} records, the table has {rows[name]}")
    print(f"mlcroissant: {len(sets)} record sets read")


# The explorer


def load(path):
    """The records of a list as a table of DuckDB, from its pages."""
    name = path.replace("/", "_").replace("-", "_")
    records, page = [], None
    while page is None or len(page) == 1000:
        asked = urllib.parse.urlencode({"limit": 1000, "offset": len(records), "app_identifier": IDENTIFIER})
        page = json.loads(get(f"{BASE}/api/v2/{path}?{asked}")[1])["data"]
        records += page
    file = f"{TREE}-{name}.json"
    with open(file, "w") as f:
        json.dump(records, f)
    columns = {row[0]: row[1] for row in query(f"DESCRIBE SELECT * FROM read_parquet({files_of(path)}, hive_partitioning = false)")}
    text = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items()) + "}"
    database.execute(f"CREATE TABLE {name} AS SELECT * FROM read_json('{file}', format = 'array', columns = {text})")
    for level in (0, 1, 2) if "admin_level" in columns else ():
        [(rows,)] = query(f"SELECT count(*) FROM {name} WHERE admin_level = {level}")
        check(f"{path} at level {level}", exists(part(path, level)) == (rows > 0), rows)
    return name


def part(path, level):
    return f"{LATEST}/{path}/admin_level={level}/part-0.parquet"


def files_of(path):
    found = [part(path, level) for level in (0, 1, 2) if exists(part(path, level))]
    return str(found or [f"{LATEST}/{path}.parquet"])


class Files:
    """Where the charts read Parquet files by URL."""

    def of(self, path, level=None):
        if level is None:
            return f"read_parquet('{LATEST}/{path}.parquet', hive_partitioning = false)"
        return f"read_parquet('{part(path, level)}', hive_partitioning = {'true' if level else 'false'})"


class Records:
    """Where they read what the lists answered."""

    def of(self, path, level=None):
        if path not in tables:
            tables[path] = load(path)
        return f"(SELECT * FROM {tables[path]}{'' if level is None else f' WHERE admin_level = {level}'})"


tables = {}
YEAR = "CAST(LEFT(reference_period_start, 4) AS INTEGER)"
POPULATION, CONFLICT, IDPS = "geography-infrastructure/baseline-population", "coordination-context/conflict-events", "affected-people/idps"
NEEDS, REFUGEES, RISK = "affected-people/humanitarian-needs", "affected-people/refugees-persons-of-concern", "coordination-context/national-risk"
FOOD, PRICES, POVERTY = (f"food-security-nutrition-poverty/{name}" for name in ("food-security", "food-prices-market-monitor", "poverty-rate"))
FUNDING, RAINFALL = "coordination-context/funding", "climate/rainfall"
CODES = ("location_code", "admin1_code", "admin2_code")


def charts():
    """Name, question with {NAME} for each source, and the sources."""
    for level, code in enumerate(CODES):
        def one(name, path, what, where="true", by=YEAR):
            return (f"{name} at level {level}", f"SELECT {code}, {by}, {what} FROM {{0}} WHERE {where} GROUP BY ALL", [(path, level)])
        yield one("population", POPULATION, "sum(population)", "gender = 'all' AND age_range = 'all'", "reference_period_start")
        yield (f"newest population at level {level}", f"SELECT {code}, {code.replace('code', 'name')}, population FROM {{0}} "
               f"WHERE gender = 'all' AND age_range = 'all' QUALIFY row_number() OVER (PARTITION BY {code} "
               "ORDER BY reference_period_start DESC, population) = 1", [(POPULATION, level)])
        yield one("fatalities", CONFLICT, "sum(fatalities)")
        yield one("phase 3 and above", FOOD, "sum(population_fraction_in_phase)",
                  "ipc_type = 'current' AND ipc_phase IN ('3', '4', '5')")
        yield one("displaced", IDPS, "sum(population)")
        yield one("in need", NEEDS, "sum(population)", "population_status = 'INN' AND sector_code = 'Intersectoral'")
        if level < 2:
            yield one("poverty", POVERTY, "list_sort(list(headcount_ratio)), list_sort(list(mpi))")
        if level > 0:
            yield one("rain", RAINFALL, "sum(rainfall_anomaly_pct * number_pixels) / nullif(sum(number_pixels), 0)",
                      "aggregation_period = '1-month'")
        yield one("available", "metadata/data-availability", "location_name", "true",
                  "category, subcategory, hapi_updated_date")
        yield one("prices", PRICES, "commodity_name, unit, currency_code, sum(price), count(*)",
                  "price_flag = 'actual' AND price > 0", "substr(reference_period_start, 1, 7)")
        yield one("commodities", PRICES, "commodity_category", "commodity_category IS NOT NULL", "location_code")
    yield ("risk", f"SELECT location_code, {YEAR}, risk_class, overall_risk FROM {{0}} QUALIFY row_number() OVER "
           "(PARTITION BY location_code ORDER BY reference_period_start DESC) = 1", [(RISK, None)])
    yield ("funding gap", f"SELECT location_code, {YEAR}, greatest(0, (1 - sum(funding_usd) / nullif(sum(requirements_usd), 0)) * 100) "
           "FROM {0} GROUP BY ALL", [(FUNDING, None)])
    yield ("refugees hosted", f"SELECT asylum_location_code, {YEAR}, sum(population) FROM {{0}} WHERE population_group IN ('REF', 'ASY') "
           "AND gender = 'all' AND age_range = 'all' GROUP BY ALL", [(REFUGEES, None)])
    yield ("flows of refugees", "SELECT origin_location_name, asylum_location_name, year(CAST(reference_period_end AS DATE)), sum(population) "
           "FROM {0} WHERE gender = 'all' AND age_range = 'all' AND population_group IN ('REF', 'ASY') GROUP BY ALL "
           "HAVING sum(population) > 0", [(REFUGEES, None)])
    yield ("fatalities for 100,000 people", "WITH p AS (SELECT location_code AS code, population FROM {0} WHERE gender = 'all' AND "
           "age_range = 'all' QUALIFY row_number() OVER (PARTITION BY code ORDER BY reference_period_start DESC, population) = 1), "
           f"c AS (SELECT location_code AS code, {YEAR} AS year, sum(fatalities) AS f FROM {{1}} GROUP BY ALL) "
           "SELECT code, year, f * 100000.0 / nullif(population, 0) FROM c JOIN p USING (code)", [(POPULATION, 0), (CONFLICT, 2)])
    yield ("phases of the latest assessment", "WITH latest AS (SELECT location_code, max(reference_period_start) AS start FROM {0} "
           "WHERE ipc_type = 'current' GROUP BY ALL) SELECT f.location_name, f.location_code, f.ipc_phase, "
           "sum(f.population_fraction_in_phase) FROM {0} f JOIN latest l ON f.location_code = l.location_code AND "
           "f.reference_period_start = l.start WHERE f.ipc_type = 'current' GROUP BY ALL", [(FOOD, 0)])
    yield ("countries", "SELECT code, name, has_hrp, in_gho FROM {0}", [("metadata/location", None)])


def close(a, b):
    """Whether two cells are equal. Floats are added in another order."""
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    return a == b


def explorer():
    figures, empty = 0, []
    order = lambda row: [str(cell) for cell in row if not isinstance(cell, (float, list))]
    for name, sql, sources in charts():
        records = sorted(query(sql.format(*[Records().of(*source) for source in sources])), key=order)
        there = all(level is None or exists(part(path, level)) for path, level in sources)
        files = sorted(query(sql.format(*[Files().of(*source) for source in sources])), key=order) if there else []
        same = len(files) == len(records) and all(len(a) == len(b) and all(map(close, a, b)) for a, b in zip(files, records))
        check(f"chart {name}", same, f"{len(files)} rows by URL, {len(records)} of the list: "
              f"{[(a, b) for a, b in zip(files, records) if not all(map(close, a, b))][:2]}")
        figures += len(files)
        if not records:
            empty.append(name)
    print(f"explorer: {figures} rows of charts; without any: {empty}")
    check("charts without rows", figures > 500 and len(empty) < 8, empty)


def moving():
    """Parts of a file at a path that moves are refused, but for the bytes by which a file is found."""
    path = f"{BASE}/bulk/{FUNDING}.parquet"
    check("first bytes", exists(path))
    target, data = get(path)
    check("the whole file", target == f"{LATEST}/{FUNDING}.parquet" and data == get(target)[1], target)
    try:
        get(path, Range="bytes=4-99")
        check("a part of a moving file", False, "was sent")
    except urllib.error.HTTPError as e:
        check("a part of a moving file", e.code == 400 and LATEST in BASE + e.headers["X-Hint"].split("/hapi")[-1], e.headers["X-Hint"])


LATEST = get(f"{BASE}/bulk/latest/manifest.json")[0].removesuffix("/manifest.json")
for part_of_the_test in (stac, packages, croissant, explorer, moving):
    part_of_the_test()
leave(int(failures > 0))
