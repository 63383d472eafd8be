"""Asks for the 30 figures of a country page, for every country, and computes each from the full pages of the lists.

It shares nothing with the program: it reads all pages as CSV, keeps the rows of a country with plain comparisons, and adds with fractions.
Every answer must have the same groups in the same order and the same figures. Where the service refuses a sum as wrong, the request that it
names instead is asked, and computed.

usage: country.py SERVER_URL ADMIN_URL IDENTIFIER MOST_COUNTRIES
       prints a line for each difference, then countries, requests, refusals, figures and the server's CPU time in milliseconds for the
       30 requests of one country, with tabs between
"""

import csv
import http.client
import io
import json
import re
import sys
import urllib.parse
from fractions import Fraction

SERVER, ADMIN, IDENTIFIER, MOST = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])

AFFECTED = "affected-people/"
CONTEXT = "coordination-context/"
FOOD = "food-security-nutrition-poverty/"
POPULATION = "geography-infrastructure/baseline-population"
NEEDS, IDPS = AFFECTED + "humanitarian-needs", AFFECTED + "idps"
REFUGEES, RETURNEES = AFFECTED + "refugees-persons-of-concern", AFFECTED + "returnees"
EVENTS, FUNDING, PRESENCE = CONTEXT + "conflict-events", CONTEXT + "funding", CONTEXT + "operational-presence"
RISK, SECURITY, PRICES = CONTEXT + "national-risk", FOOD + "food-security", FOOD + "food-prices-market-monitor"
POVERTY, RAINFALL = FOOD + "poverty-rate", "climate/hazards-rainfall"

START, END = "reference_period_start", "reference_period_end"
PARTS = {"year": lambda day: day[:4], "month": lambda day: day[:7]}

# The order of values, where it is not that of their texts; what is not listed is text. Empty texts can be null but for those of EMPTY.
EMPTY = {"category", "unit", "operation", "assessment_type"}
NUMBERS = {"admin_level", "reporting_round", "year"}
ORDERS = {
    "gender": "f m x u o all".split(),
    "population_group": "REF ROC ASY OIP IDP IOC STA OOC HST RET RST NAT RDP RRI all".split(),
    "population_status": "AFF INN TGT REA all".split(),
    "event_type": "civilian_targeting demonstration political_violence".split(),
    "ipc_phase": "1 2 3 4 5 3+ all".split(),
    "ipc_type": ["current", "first projection", "second projection"],
    "price_flag": ["actual", "aggregate", "actual,aggregate"],
    "price_type": ["Farm Gate", "Producer", "Retail", "Wholesale"],
    "aggregation_period": ["dekad", "1-month", "3-month"],
    "version": ["final", "forecast", "preliminary"],
}

# What rows of one series have in common.
PLACE = ["location_code", "admin1_code", "admin2_code", "provider_admin1_name", "provider_admin2_name"]
JOURNEY = ["origin_location_code", "asylum_location_code", "population_group", "gender", "age_range"]
SERIES = {
    POPULATION: PLACE + ["gender", "age_range"],
    NEEDS: PLACE + ["category", "sector_code", "population_status"],
    IDPS: PLACE + ["assessment_type", "operation"],
    SECURITY: PLACE + ["ipc_phase", "ipc_type"],
    RAINFALL: PLACE + ["provider_admin1_code", "provider_admin2_code", "aggregation_period", "version"],
    PRICES: ["market_code", "commodity_code", "unit", "price_flag", "price_type"],
    RISK: ["location_code"],
    POVERTY: ["location_code", "admin1_code", "provider_admin1_name"],
    REFUGEES: JOURNEY,
    RETURNEES: JOURNEY,
}

WHOLE = {"gender": "all", "age_range": "all"}
LATEST = {"latest": "true"}
PRICE = ["commodity_code", "unit", "currency_code", "price_flag", "price_type"]


def sums(path, groups, measures, place="location_code", **filters):
    return {"path": path, "kind": "aggregate", "groups": groups, "measures": measures, "place": place, "filters": filters}


def rows(path, fields, place="location_code", **filters):
    return {"path": path, "kind": "rows", "fields": fields, "place": place, "filters": filters}


def values(path, of, **filters):
    return {"path": path, "kind": "facets", "of": of, "place": "location_code", "filters": filters}


PAGE = [
    # People
    sums(POPULATION, ["admin_level"], ["sum:population", "max:" + START], **WHOLE, **LATEST),
    sums(POPULATION, ["admin_level", "gender"], ["sum:population"], age_range="all", **LATEST),
    sums(POPULATION, ["admin_level", "age_range"], ["sum:population"], gender="all", **LATEST),
    sums(POPULATION, ["admin_level", "admin1_code"], ["sum:population"], **WHOLE, **LATEST),
    # Needs
    sums(NEEDS, ["admin_level", "population_status", "sector_code", "category"], ["sum:population"], **LATEST),
    sums(
        NEEDS, ["admin_level", START, "category"], ["sum:population", "count"], sector_code="Intersectoral", population_status="INN",
    ),
    sums(
        NEEDS, ["admin_level", "admin1_code", "category"], ["sum:population"], sector_code="Intersectoral", population_status="INN",
        **LATEST,
    ),
    # Conflict
    sums(EVENTS, ["admin_level", "event_type", "month"], ["sum:events", "sum:fatalities"]),
    sums(EVENTS, ["admin_level", "event_type", "year"], ["sum:events", "sum:fatalities", "mean:fatalities"]),
    sums(EVENTS, ["admin_level", "admin1_code"], ["sum:fatalities", "max:fatalities"], event_type="political_violence"),
    sums(EVENTS, [], ["count", "min:" + START, "max:" + END]),
    # Displacement
    sums(IDPS, ["admin_level", "assessment_type", "operation", "reporting_round"], ["sum:population", "max:" + END], **LATEST),
    sums(IDPS, ["admin_level", "admin1_code", "assessment_type", "operation", "reporting_round"], ["sum:population"], **LATEST),
    sums(IDPS, ["admin_level", "assessment_type", "operation", "reporting_round", START], ["sum:population"]),
    sums(REFUGEES, ["asylum_location_code"], ["sum:population"], "origin_location_code", population_group="REF", **WHOLE, **LATEST),
    sums(REFUGEES, ["origin_location_code"], ["sum:population"], "asylum_location_code", population_group="REF", **WHOLE, **LATEST),
    sums(REFUGEES, ["population_group", START], ["sum:population"], "origin_location_code", **WHOLE),
    sums(RETURNEES, ["population_group", "year"], ["sum:population"], "origin_location_code", **WHOLE),
    # Food
    sums(SECURITY, ["admin_level"], ["sum:population_in_phase", "max:" + END], ipc_phase="3+", ipc_type="current", **LATEST),
    sums(SECURITY, ["admin_level", "ipc_phase"], ["sum:population_in_phase"], ipc_type="current", **LATEST),
    sums(SECURITY, ["admin_level", "ipc_type", START, END], ["sum:population_in_phase", "count"], ipc_phase="3+"),
    sums(PRICES, ["admin_level", "month"] + PRICE, ["mean:price", "min:price", "max:price", "count"]),
    rows(PRICES, ["market_name", "commodity_name", "unit", "price", START], price_flag="actual", **LATEST),
    sums(PRICES, ["commodity_category"], ["distinct:commodity_code", "distinct:market_code", "latest:" + END]),
    # Money, risk, who works there
    sums(FUNDING, ["year"], ["sum:requirements_usd", "sum:funding_usd", "count"]),
    sums(FUNDING, ["appeal_code", "year"], ["sum:requirements_usd", "sum:funding_usd"]),
    rows(RISK, ["risk_class", "global_rank", "overall_risk", START], **LATEST),
    rows(POVERTY, ["admin1_code", "mpi", "headcount_ratio", END], **LATEST),
    sums(RAINFALL, ["admin_level", "aggregation_period", "version", "month"], ["mean:rainfall"]),
    values(PRESENCE, ["sector_code", "admin_level"]),
]


CONNECTION = http.client.HTTPConnection(urllib.parse.urlsplit(SERVER).netloc)


def get(path):
    CONNECTION.request("GET", path, headers={"X-HDX-HAPI-APP-IDENTIFIER": IDENTIFIER})
    answer = CONNECTION.getresponse()
    return answer.status, answer.read().decode(), answer.headers


def ask(path, query):
    query = "&".join(name + "=" + urllib.parse.quote(value, safe=",") for name, value in query.items())
    status, text, headers = get(f"/hapi/api/v2/{path}?{query}")
    if status != 200:
        sys.exit(f"{path}?{query}: {status} {text}")
    return text, headers


def cpu():
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(ADMIN).netloc)
    connection.request("GET", "/metrics")
    found = re.search(r"^process_cpu_seconds_total (\S+)$", connection.getresponse().read().decode(), re.MULTILINE)
    return float(found.group(1)) * 1000


def all_rows(path):
    found, offset = [], 0
    while True:
        text, headers = ask(path, {"output_format": "csv", "limit": "10000", "offset": str(offset)})
        page = list(csv.DictReader(io.StringIO(text, newline="")))
        found += page
        offset += len(page)
        if not page or offset >= int(headers["X-Total-Count"]):
            return found


def part(row, name):
    return PARTS[name](row[START]) if name in PARTS else row[name]


def rank(name, value):
    """Sorts as the service does: nulls last, but an empty text where a field cannot be null."""
    if value == "" and name not in EMPTY:
        return (1, 0)
    if name in NUMBERS:
        return (0, int(value))
    return (0, ORDERS[name].index(value) if name in ORDERS else value.encode())


def newest(path, found):
    series = {}
    for row in found:
        key = tuple(row[name] for name in SERIES[path])
        period = (row[END] == "", row[END], row[START])
        series[key] = max(period, series.get(key, period))
    return [row for row in found if series[tuple(row[name] for name in SERIES[path])] == (row[END] == "", row[END], row[START])]


def measured(found, measure):
    if measure == "count":
        return str(len(found))
    function, _, name = measure.partition(":")
    given = [row[name] for row in found if row[name] != ""]
    if function == "distinct":
        return str(len(set(given)))
    if not given:
        return ""
    if function == "latest":
        last = max((row[END] == "", row[END], row[START]) for row in found)
        (value,) = {row[name] for row in found if (row[END] == "", row[END], row[START]) == last}
        return value
    if name in (START, END):
        return {"min": min, "max": max}[function](given)
    numbers = [Fraction(value) for value in given]
    if function == "mean":
        return str(float(sum(numbers) / len(numbers)))
    return str({"sum": sum, "min": min, "max": max}[function](numbers))


def expected(question, found):
    names = question.get("fields")
    if question["filters"].get("latest"):
        found = newest(question["path"], found)
    if names:
        return [[row[name] for name in names] for row in found]
    if question["kind"] == "facets":
        lines = []
        for name in question["of"]:
            counts = {}
            for row in found:
                counts[row[name]] = counts.get(row[name], 0) + 1
            lines += sorted(([name, value, str(n)] for value, n in counts.items()), key=lambda line: (-int(line[2]), rank(name, line[1])))
        return lines
    groups = {} if question["groups"] else {(): []}
    for row in found:
        groups.setdefault(tuple(part(row, name) for name in question["groups"]), []).append(row)
    ordered = sorted(groups, key=lambda key: [rank(name, value) for name, value in zip(question["groups"], key)])
    return [list(key) + [measured(groups[key], measure) for measure in question["measures"]] for key in ordered]


def asked(question, code):
    """Returns the question that was answered, and the records of the answer."""
    query = {question["place"]: code, **question["filters"]}
    path = "/hapi/api/v2/" + question["path"]
    if question["kind"] == "rows":
        query["fields"] = ",".join(question["fields"])
    elif question["kind"] == "facets":
        path, query["of"] = path + "/facets", ",".join(question["of"])
    else:
        path, query["measures"] = path + "/aggregate", ",".join(question["measures"])
        if question["groups"]:
            query["group_by"] = ",".join(question["groups"])
    path += "?" + "&".join(name + "=" + urllib.parse.quote(value, safe=",") for name, value in query.items())
    status, text, _ = get(path)
    if status == 422:
        instead = json.loads(text)["detail"][0]["ctx"]["instead"]
        question = mended(question, instead, code)
        status, text, _ = get(instead)
    if status != 200:
        sys.exit(f"{path}: {status} {text}")
    return question, [list(record.values()) for record in json.loads(text, parse_int=str, parse_float=str)["data"]]


def mended(question, instead, code):
    """Returns the question of a request that the service names. It has the same path and country."""
    path, _, query = instead.partition("?")
    query = dict(urllib.parse.parse_qsl(query))
    assert path == f"/hapi/api/v2/{question['path']}/aggregate" and query.pop(question["place"]) == code, instead
    groups = query.pop("group_by", "")
    measures = query.pop("measures").split(",")
    return {**question, "groups": groups.split(",") if groups else [], "measures": measures, "filters": query}


def same(got, want):
    """Compares a value of an answer with the text of a cell, numbers by their value."""
    if got is None:
        return want == ""
    if got == want or got.replace("T", " ") == want:
        return True
    try:
        return Fraction(got) == Fraction(want)
    except ValueError:
        return False


def is_kept(row, filters):
    return all(row[name] == value for name, value in filters.items() if name != "latest")


def difference(got, want):
    """Returns the number of the first record that differs, or None."""
    for at, (a, b) in enumerate(zip(got, want)):
        if len(a) != len(b) or not all(same(x, y) for x, y in zip(a, b)):
            return at
    return None if len(got) == len(want) else min(len(got), len(want))


def main():
    lists = {question["path"]: all_rows(question["path"]) for question in PAGE}
    by_place = {}
    for path, place in {(question["path"], question["place"]) for question in PAGE}:
        for row in lists[path]:
            by_place.setdefault((path, place, row[place]), []).append(row)
    # Countries with most lists first.
    codes = sorted({code for _, _, code in by_place}, key=lambda code: (-sum(key[2] == code for key in by_place), code))[:MOST]
    before = cpu()
    answers = {code: [asked(question, code) for question in PAGE] for code in codes}
    spent = cpu() - before
    figures = refused = 0
    for code in codes:
        refused += sum(question not in PAGE for question, _ in answers[code])
        for question, got in answers[code]:
            found = [row for row in by_place.get((question["path"], question["place"], code), []) if is_kept(row, question["filters"])]
            want = expected(question, found)
            figures += sum(map(len, want))
            at = difference(got, want)
            if at is not None:
                print(code, question, f"record {at} of {len(got)}, {len(want)} expected: got {got[at : at + 1]}, want {want[at : at + 1]}")
    print(len(codes), len(codes) * len(PAGE), refused, figures, f"{spent / max(len(codes), 1):.1f}", sep="\t")


assert len(PAGE) == 30
main()
