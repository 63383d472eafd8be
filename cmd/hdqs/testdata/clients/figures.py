"""Computes every headline figure of every country from the CSV of whole lists, and compares.

Usage: figures.py BASE [END_DATE]. It shares no code with the service, and asks it only for rows, in
the names of HDX HAPI, whose CSV has what providers call the units. It prints what differs, or how
many figures agree, and the values by figure and country as JSON on the last line.
"""

import collections
import csv
import datetime
import decimal
import io
import json
import statistics
import sys
import urllib.error
import urllib.parse
import urllib.request
from fractions import Fraction

BASE = sys.argv[1].rstrip("/")
END = sys.argv[2] if len(sys.argv) > 2 else None
HEADERS = {"X-HDX-HAPI-APP-IDENTIFIER": "ZmlndXJlczptZUBleGFtcGxlLm9yZw=="}

LISTS = {
    "needs": "affected-people/humanitarian-needs",
    "idps": "affected-people/idps",
    "refugees": "affected-people/refugees-persons-of-concern",
    "returnees": "affected-people/returnees",
    "phases": "food-security-nutrition-poverty/food-security",
    "prices": "food-security-nutrition-poverty/food-prices-market-monitor",
    "poverty": "food-security-nutrition-poverty/poverty-rate",
    "conflict": "coordination-context/conflict-events",
    "funding": "coordination-context/funding",
    "risk": "coordination-context/national-risk",
    "presence": "coordination-context/operational-presence",
    "rainfall": "climate/rainfall",
    "population": "geography-infrastructure/baseline-population",
    "admin1": "metadata/admin1",
    "admin2": "metadata/admin2",
    "location": "metadata/location",
    "resource": "metadata/resource",
}


def get(path):
    request = urllib.request.Request(BASE + path, headers=HEADERS)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read().decode()


def snapshot_day():
    """No figure is made of rows that start after it."""
    url = BASE + "/hapi/api/v2/" + LISTS["location"] + "?limit=1"
    with urllib.request.urlopen(urllib.request.Request(url, headers=HEADERS)) as answer:
        return datetime.datetime.strptime(answer.headers["X-Snapshot-Id"][:8], "%Y%m%d").date()


LAST = min(snapshot_day(), datetime.date.fromisoformat(END or "9998-12-31"))


def fetch(name):
    status, text = get("/hapi/api/v2/" + LISTS[name] + "/export?output_format=csv")
    assert status == 200, (name, status, text[:300])
    rows = list(csv.DictReader(io.StringIO(text)))
    limit = LAST + datetime.timedelta(days=1)
    return [r for r in rows if name in ("admin1", "admin2", "location", "resource")
            or r["reference_period_start"] < limit.isoformat()]


DATA = {name: fetch(name) for name in LISTS}
UNITS = {level: collections.Counter(r["location_code"] for r in DATA["admin%d" % level]) for level in (1, 2)}
CHANGED = {r["resource_hdx_id"]: r["update_date"] for r in DATA["resource"]}


def number(text):
    return None if text in ("", None) else Fraction(decimal.Decimal(text))


def period(row):
    return row["reference_period_end"] or "9999", row["reference_period_start"]


def unit1(row):
    code = row["admin1_code"]
    if code and not code.endswith("-XXX"):
        return code
    return "name of", row["provider_admin1_name"]


def coarsest(rows, *same):
    """Rows whose place is in no place of another row with the same values and period."""
    def key(row, *place):
        return (row["location_code"], *place, *(row[f] for f in same), *period(row))
    def names(r):
        called = r["provider_admin1_name"], r.get("provider_admin1_code")
        return {unit1(r), called} if any(called) else {unit1(r)}
    countries = {key(r) for r in rows if r["admin_level"] == "0"}
    provinces = {key(r, name) for r in rows if r["admin_level"] == "1" for name in names(r)}
    kept = []
    for r in rows:
        if r["admin_level"] != "0" and key(r) in countries:
            continue
        if r["admin_level"] == "2" and any(key(r, name) in provinces for name in names(r)):
            continue
        kept.append(r)
    return kept


def by(rows, field):
    groups = collections.defaultdict(list)
    for r in rows:
        groups[r[field]].append(r)
    return groups


def newest(rows, place="location_code"):
    """The rows of the newest period of each country."""
    return {code: [r for r in of if period(r) == max(map(period, of))] for code, of in by(rows, place).items()}


def total(rows, field):
    known = [number(r[field]) for r in rows if number(r[field]) is not None]
    return sum(known) if known else None


def percent(part, whole):
    if part is None or not whole:
        return None
    exact = 100 * part / whole
    scaled = abs(exact) * 1000
    rounded = Fraction(int(scaled + Fraction(1, 2)), 1000)
    return -rounded if exact < 0 else rounded


def place(row):
    """A unit is its code, whatever a provider calls it, or without one what the provider calls it."""
    code = row["admin2_code"]
    if row["admin_level"] == "2" and (not code or code.endswith("-XXX")):
        code = "name of", code, row["provider_admin2_name"]
    return row["admin_level"], unit1(row), code


def needs(status):
    rows = [r for r in DATA["needs"] if r["population_status"] == status
            and r["sector_code"] == "Intersectoral" and r["category"] in ("", "total")]
    found = {}
    for code, of in newest(coarsest(rows)).items():
        once = len({place(r) for r in of}) == len(of)
        found[code] = (total(of, "population") if once else None, of)
    return found


def displaced():
    found = {}
    for code, of in newest(coarsest(DATA["idps"], "assessment_type", "operation")).items():
        one = len({(r["operation"], r["assessment_type"], r["reporting_round"]) for r in of}) == 1
        found[code] = (total(of, "population") if one else None, of)
    return found


def journeys(name, group, place):
    rows = [r for r in DATA[name] if r["population_group"] == group]
    last = max(map(period, rows), default=None)
    rows = [r for r in rows if r["gender"] == "all" and r["age_range"] == "all" and period(r) == last]
    return {c: (total(of, "population"), of) for c, of in by(rows, place).items()}


def phases():
    rows = [r for r in DATA["phases"] if r["ipc_type"] == "current" and r["ipc_phase"] == "3+"]
    return {c: (total(of, "population_in_phase"), of) for c, of in newest(coarsest(rows)).items()}


def months(first, count):
    year, month = divmod(int(first[:4]) * 12 + int(first[5:7]) - 1 + count, 12)
    return "%04d-%02d" % (year, month + 1)


def overlap(rows):
    """Whether a day counts twice: two rows of one place have it, but not the same period, or one of a
    place and one of a unit in it."""
    def meet(a, b):
        return a["reference_period_start"] <= b["reference_period_end"] \
            and b["reference_period_start"] <= a["reference_period_end"]
    places, provinces = collections.defaultdict(list), collections.defaultdict(list)
    for r in rows:
        places[place(r)].append(r)
        if r["admin_level"] == "2":
            provinces[unit1(r)].append(r)
    for key, of in places.items():
        if any(meet(a, b) and period(a) != period(b) for a in of for b in of):
            return True
        inner = provinces[unit1(of[0])] if key[0] == "1" else rows if key[0] == "0" else []
        if any(meet(a, b) for a in of for b in inner if b["admin_level"] != key[0]):
            return True
    return False


def conflict(event, field):
    if not DATA["conflict"]:
        return {}
    last = max(r["reference_period_start"] for r in DATA["conflict"])[:7]
    window = [months(last, -k) for k in range(12)]
    rows = [r for r in DATA["conflict"] if r["event_type"] == event
            and r["reference_period_start"][:7] <= last and r["reference_period_end"][:7] >= window[-1]]
    found = {}
    for code, of in by(coarsest(rows), "location_code").items():
        complete = {r["reference_period_start"][:7] for r in of} == set(window) and not any(
            r["reference_period_end"] > CHANGED.get(r["resource_hdx_id"], "9999").replace("T", " ") for r in of)
        found[code] = (None if overlap(of) else total(of, field), of, complete)
    return found


def funding():
    found = {}
    for code, of in by(DATA["funding"], "location_code").items():
        years = [r["reference_period_start"][:4] for r in of if r["appeal_type"]]
        if years:
            found[code] = [r for r in of if r["reference_period_start"][:4] == max(years)]
    return found


def appeals(field):
    rows = {c: [r for r in of if r["appeal_type"]] for c, of in funding().items()}
    return {c: (total(of, field), of) for c, of in rows.items()}


def funding_percent():
    rows = {c: [r for r in of if r["appeal_type"]] for c, of in funding().items()}
    return {c: (percent(total(of, "funding_usd"), total(of, "requirements_usd")), of) for c, of in rows.items()}


def one(rows, field):
    values = {r[field] for r in rows}
    return number(values.pop()) if len(values) == 1 else None


def poverty():
    found = {}
    for code, of in newest(coarsest(DATA["poverty"])).items():
        whole = all(r["admin_level"] == "0" for r in of)
        found[code] = (one(of, "headcount_ratio") if whole else None, of)
    return found


def population():
    rows = [r for r in DATA["population"] if r["gender"] == "all" and r["age_range"] == "all"]
    return {c: (total(of, "population"), of) for c, of in newest(coarsest(rows)).items()}


def rainfall():
    rows = [r for r in DATA["rainfall"] if r["aggregation_period"] == "3-month" and r["version"] == "final"]
    found = {}
    for code, of in newest(coarsest(rows)).items():
        rain = sum(number(r["rainfall"]) * number(r["number_pixels"]) for r in of)
        usual = sum(number(r["rainfall_long_term_average"]) * number(r["number_pixels"]) for r in of)
        found[code] = (percent(rain, usual), of)
    return found


def prices():
    found = {}
    for code, of in by(DATA["prices"], "location_code").items():
        last = max(r["reference_period_start"] for r in of)[:7]
        kept = []
        for month in (last, months(last, -12)):
            known = collections.defaultdict(list)
            for r in of:
                if r["reference_period_start"][:7] == month:
                    key = tuple(r[f] for f in ("market_code", "commodity_code", "unit", "price_flag", "price_type",
                                               "currency_code"))
                    known[key].append(number(r["price"]))
            kept.append({key: sum(values) / len(values) for key, values in known.items()})
        ratios = sorted(kept[0][k] / kept[1][k] for k in kept[0] if kept[1].get(k, 0) > 0)
        rows = [r for r in of if r["reference_period_start"][:7] == last]
        if not ratios:
            found[code] = (None, rows)
            continue
        half = len(ratios) // 2
        median = ratios[half] if len(ratios) % 2 else (ratios[half - 1] + ratios[half]) / 2
        found[code] = (percent(median - 1, Fraction(1)), rows)
    return found


def presence():
    found = collections.defaultdict(list)
    for of in by(DATA["presence"], "admin_level").values():  # an edition is of one level
        for code, rows in newest(of).items():
            found[code] += rows
    return {c: (Fraction(len({r["org_acronym"] for r in of})), of) for c, of in found.items()}


WANT = {
    "people_in_need": needs("INN"), "people_targeted": needs("TGT"), "people_reached": needs("REA"),
    "internally_displaced": displaced(),
    "refugees_by_asylum": journeys("refugees", "REF", "asylum_location_code"),
    "refugees_by_origin": journeys("refugees", "REF", "origin_location_code"),
    "returned_refugees": journeys("returnees", "RET", "asylum_location_code"),
    "returned_idps": journeys("returnees", "RDP", "asylum_location_code"),
    "people_in_phase_3_or_worse": phases(),
    "political_violence_events": conflict("political_violence", "events"),
    "political_violence_fatalities": conflict("political_violence", "fatalities"),
    "demonstration_events": conflict("demonstration", "events"),
    "civilian_targeting_events": conflict("civilian_targeting", "events"),
    "funding_asked": appeals("requirements_usd"), "funding_received": appeals("funding_usd"),
    "funding_received_all": {c: (total(of, "funding_usd"), of) for c, of in funding().items()},
    "funding_percent": funding_percent(),
    "overall_risk": {c: (one(of, "overall_risk"), of) for c, of in newest(DATA["risk"]).items()},
    "poverty_headcount": poverty(), "population": population(),
    "rainfall_percent_of_normal": rainfall(), "price_change_in_a_year": prices(),
    "organisations_present": presence(),
}
COARSEST = {"people_in_need", "people_targeted", "people_reached", "internally_displaced",
            "people_in_phase_3_or_worse", "political_violence_events", "political_violence_fatalities",
            "demonstration_events", "civilian_targeting_events", "poverty_headcount", "population",
            "rainfall_percent_of_normal"}

faults, agreed, sent, values = [], 0, 0, {}


def check(name, code, what, got, want):
    global agreed
    agreed += 1
    if got != want:
        faults.append("%s %s: %s is %s, want %s" % (name, code, what, got, want))


def moment(text):
    return None if text is None else text.replace("T", " ")


def expect(name, record):
    """Compares a record of a country that has rows."""
    code = record["location_code"]
    value, rows, *complete = WANT[name][code]
    got = None if record["value"] is None else Fraction(record["value"])
    check(name, code, "value", got, value)
    check(name, code, "whether it has a reason", record["reason"] is not None, value is None)
    if name == "price_change_in_a_year":
        return
    check(name, code, "rows", record["rows"], len(rows))
    check(name, code, "period_start", moment(record["period_start"]), min(r["reference_period_start"] for r in rows))
    ends = [r["reference_period_end"] for r in rows]
    check(name, code, "period_end", moment(record["period_end"]), max(ends) if all(ends) else None)
    check(name, code, "complete", record["complete"], complete[0] if complete else True)
    levels = {r.get("admin_level") for r in rows}
    level = levels.pop() if len(levels) == 1 else None
    check(name, code, "admin_level", record["admin_level"], None if level is None else int(level))
    resources = {r["resource_hdx_id"] for r in rows}
    known = [CHANGED[r] for r in resources if r in CHANGED]
    check(name, code, "updated", moment(record["updated"]), max(known).replace("T", " ") if known else None)
    check(name, code, "resource", record["resource"], resources.pop() if len(resources) == 1 and known else None)
    lowest = max(int(r.get("admin_level") or 0) for r in rows)
    if name in COARSEST and lowest > 0 and UNITS[lowest][code]:
        field = "admin%d_code" % lowest
        some = {r[field] for r in rows if r["admin_level"] == str(lowest) and not r[field].endswith("-XXX")}
        check(name, code, "units", (record["units"], record["units_known"]), (len(some), UNITS[lowest][code]))


def repeat(name, record):
    """Sends the request that a record names: a plain one gives the same number."""
    global sent
    requests = record["request"]
    if isinstance(requests, list):
        prices = []
        for i, r in enumerate(requests):
            status, text = get(r)
            sent += 1
            if status != 200:
                faults.append("%s: %s: %d %s" % (name, r, status, text[:200]))
            elif name == "price_change_in_a_year" and record["value"] is not None:
                month = months(record["period_start"][:7], -12 * i)
                prices.append({})
                for group in json.loads(text, parse_float=decimal.Decimal)["data"]:
                    price = group.pop("mean_price")
                    if group.pop("month") == month and price:
                        prices[-1][json.dumps(group)] = price
        if prices:
            ratios = [Fraction(prices[0][k]) / Fraction(prices[1][k]) for k in prices[0] if k in prices[1]]
            change = percent(statistics.median(ratios) - 1, Fraction(1))
            check(name, record["location_code"], requests, abs(change - Fraction(record["value"])) < Fraction(1, 100), True)
        return
    status, text = get(requests)
    sent += 1
    if record["value"] is None:
        if status == 200 and record["admin_level"] != 1:  # else it is the figure of the only unit that has one
            data = json.loads(text, parse_float=decimal.Decimal)["data"]
            check(name, record["location_code"], requests, [v for v in data[0].values() if v], [])
        return
    if status != 200:
        faults.append("%s: %s: %d %s" % (name, requests, status, text[:200]))
        return
    data = json.loads(text, parse_float=decimal.Decimal)["data"]
    check(name, record["location_code"], requests, list(data[0].values()), [record["value"]])


upto = "?end_date=" + END if END else "?"
for name, want in WANT.items():
    status, text = get("/api/v2/figures/" + name + upto)
    assert status == 200, (name, status, text[:500])
    records = json.loads(text, parse_float=decimal.Decimal)["data"]
    check(name, "*", "places", [r["location_code"] for r in records], sorted(want))
    values[name] = {r["location_code"]: None if r["value"] is None else str(r["value"]) for r in records}
    for r in records:
        expect(name, r)
        repeat(name, r)

status, text = get("/api/v2/figures" + upto + "&location_code=%25")
assert status == 200, (status, text[:500])
everything = json.loads(text, parse_float=decimal.Decimal)["data"]
check("*", "*", "records of all", len(everything), min(10000, len(WANT) * len(DATA["location"])))
for r in everything:
    name, code = r["figure"], r["location_code"]
    if code in WANT[name]:
        expect(name, r)
    else:
        check(name, code, "value and rows", (r["value"], r["rows"]), (None, 0))
        check(name, code, "whether it has a reason", bool(r["reason"]), True)
for r in everything[:: max(1, len(everything) // 200)]:
    repeat(r["figure"], r)

for fault in faults[:40]:
    print(fault)
print("%d of %d comparisons differ, %d requests repeated" % (len(faults), agreed, sent))
print(json.dumps(values, sort_keys=True))
sys.exit(1 if faults else 0)
