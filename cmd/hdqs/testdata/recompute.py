"""Computes every record of every endpoint from a catalog directory, with dictionaries and Python's own csv, json and sorted.

It shares nothing with the program: the rules are those of the interface contract and of the sources' description, written down a second time.
Only what well-formed catalogs need is here: no checks of values, no compressed files, no embedded lists.

usage: recompute.py CATALOG CATALOG_URL SNAPSHOT_TIME
       prints for each endpoint {"path", "fields"}, then for each of its records, in order, {"json", "csv"}: the texts that are served
"""

import csv
import glob
import io
import json
import sys
from urllib.parse import quote, urlsplit

CATALOG, CATALOG_URL, SNAPSHOT_TIME = sys.argv[1:4]

BUILT_IN_ORG_TYPES = {"501": "Civil Society", "502": "Observer", "503": "Development Programme", "504": "Local NGO"}
BUILT_IN_SECTORS = {
    "Cash": "Cash programming",
    "Hum": "Humanitarian assistance (unspecified)",
    "Multi": "Multi-sector (unspecified)",
    "Intersectoral": "Intersectoral",
}

# Enums sort as listed here, behind them null.
ENUMS = {
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


def rank(row, name):
    return ENUMS[name].index(row[name]) if row[name] else len(ENUMS[name])


# Files


def read(path):
    with open(path, encoding="utf-8-sig", newline="") as f:
        lines = list(csv.reader(f))
    header, lines = lines[0], lines[1:]
    if lines and any(lines[0]) and all(not cell or cell.startswith("#") for cell in lines[0]):
        lines = lines[1:]
    return [dict(zip(header, line)) for line in lines]


def reference(name):
    return [row for row in read(f"{CATALOG}/reference/{name}.csv") if not row.get("error")]


def theme(role):
    rows = [row for path in sorted(glob.glob(f"{CATALOG}/{role}/*.csv")) for row in read(path)]
    return [row for row in rows if not row.get("error")]


def last_of_each(rows, key):
    """Of rows with one key the last stands, where it is."""
    kept = {}
    for row in rows:
        kept.pop(key(row), None)
        kept[key(row)] = row
    return list(kept.values())


# Values


def integer(cell):
    return None if cell == "" else int(float(cell))


def decimal(cell):
    return None if cell == "" else float(cell)


def start(row):
    return row["reference_period_start"][:10] + "T00:00:00"


def end(row):
    return row["reference_period_end"][:10] + "T23:59:59" if row["reference_period_end"] else None


def period(row):
    return {"reference_period_start": start(row), "reference_period_end": end(row)}


def resource(row):
    return {"resource_catalog_id": row["resource_hdx_id"]}


def normal_uri(text):
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https"):
        return text
    safe = "/%!$&'()*+,;=:@-._~"
    port = "" if parts.port in (None, {"http": 80, "https": 443}[parts.scheme]) else f":{parts.port}"
    query = "?" + quote(parts.query, safe=safe + "?") if parts.query else ""
    return f"{parts.scheme}://{parts.hostname}{port}{quote(parts.path, safe=safe) or '/'}{query}"


# Places


class Unit:
    """An administrative unit of level 1 or 2, numbered as the incumbent does."""

    def __init__(self, units, code, name, location, start, parent=None, placeholder=False):
        self.code, self.name, self.location, self.start = code, name, location, start
        self.parent, self.placeholder = parent, placeholder
        self.id = len(units) + 1
        units[code] = self


def read_locations():
    found = {}
    for row in reference("location"):
        code = row["ISO 3166-1 Alpha 3-Codes"]
        if code:
            found[code] = {
                "id": len(found) + 1,
                "code": code,
                "name": row["M49 English"] or row["Preferred Term"],
                "has_hrp": row["Has HRP"] == "Y",
                "in_gho": row["In GHO"] == "Y",
                "from_cods": True,
                "reference_period_start": row["Reference Period Start"][:10] + "T00:00:00",
                "reference_period_end": None,
            }
    return found


def read_units():
    level1, level2 = {}, {}
    listed = [row for row in reference("pcodes") if row["Location"] in LOCATIONS]
    for row in listed:
        if row["Admin Level"] == "1":
            Unit(level1, row["P-Code"], row["Name"], LOCATIONS[row["Location"]], row["Valid from date"][:10] + "T00:00:00")
    for code, location in LOCATIONS.items():
        Unit(level1, code + "-XXX", "UNSPECIFIED", location, location["reference_period_start"], placeholder=True)
    for row in listed:
        if row["Admin Level"] == "2":
            parent = level1.get(row["Parent P-Code"]) or (level1["SSD-XXX"] if row["P-Code"] == "SS0001" else None)
            if parent:
                Unit(level2, row["P-Code"], row["Name"], parent.location, row["Valid from date"][:10] + "T00:00:00", parent)
    for unit in list(level1.values()):
        Unit(level2, unit.code + "-XXX", "UNSPECIFIED", unit.location, unit.start, unit, placeholder=True)
    return level1, level2


LOCATIONS = read_locations()
LEVEL1, LEVEL2 = read_units()


def named(row, level):
    return row[f"provider_admin{level}_name"] != "" or row[f"admin{level}_name"] != ""


def unit2(row):
    """Where a row stands. An unknown code places it at its country."""
    nation = LEVEL2[row["location_code"] + "-XXX-XXX"]
    if named(row, 2) and row["admin2_code"]:
        return LEVEL2.get(row["admin2_code"], nation)
    if (named(row, 1) or named(row, 2)) and row["admin1_code"]:
        return LEVEL2[row["admin1_code"] + "-XXX"] if row["admin1_code"] in LEVEL1 else nation
    return nation


def unit1(row):
    nation = LEVEL1[row["location_code"] + "-XXX"]
    return LEVEL1.get(row["admin1_code"], nation) if named(row, 1) and row["admin1_code"] else nation


def level_of(row, unit):
    """unit is of level 2, or of level 1 for sources that know no other."""
    first = unit.parent or unit
    if unit.parent and (row["provider_admin2_name"] or not unit.placeholder):
        return 2
    return 1 if row["provider_admin1_name"] or not first.placeholder else 0


def printed_name(unit, provider):
    return provider if provider and unit.name.lower() in ("", "unspecified") else unit.name


def geography(row, unit):
    first, level = unit.parent or unit, level_of(row, unit)
    record = {
        "location_code": unit.location["code"],
        "location_name": unit.location["name"],
        "admin1_code": first.code if level >= 1 else None,
        "admin1_name": printed_name(first, row["provider_admin1_name"]) if level >= 1 else None,
    }
    if unit.parent:
        record["admin2_code"] = unit.code if level >= 2 else None
        record["admin2_name"] = printed_name(unit, row["provider_admin2_name"]) if level >= 2 else None
    return record | {"admin_level": level}


def providers(row):
    return row["provider_admin1_name"], row["provider_admin2_name"]


# Lists that rows are joined with

ORG_TYPES = {row["HR.info ID"]: row["Preferred Term"] for row in reference("org-type")} | BUILT_IN_ORG_TYPES
SECTORS = {row["ACRONYM"]: row["Preferred Term"] for row in reference("sector")} | BUILT_IN_SECTORS
ORGS = {(row["acronym"], row["name"]): row["org_type_code"] or None for row in reference("org")}
MARKETS = {row["market_code"]: row for row in reference("market")}
COMMODITIES = {row["code"]: row for row in reference("commodity")}


def org_type(code):
    return {"org_type_code": code, "org_type_description": ORG_TYPES[code] if code else None}


def read_packages():
    found = {}
    for path in glob.glob(f"{CATALOG}/packages/*.json"):
        with open(path, encoding="utf-8") as f:
            package = json.load(f)
        package = package if "resources" in package else package["result"]
        found[package["id"]] = package
    return found


PACKAGES = read_packages()
RISK_SOURCE = next(
    (
        (package["id"], next(r["id"] for r in package["resources"] if r["format"].upper() == "XLSX"))
        for package in PACKAGES.values()
        if package["name"].startswith("inform-risk-index")
    ),
    None,
)

# What all themes leave behind: who was referred to, and where there is something.
used_sources = {RISK_SOURCE} if RISK_SOURCE else set()
used_datasets = {p["id"] for p in PACKAGES.values() if p["name"].startswith("inform-risk-index") or p["name"] == "hdx-hapi-organisations"}
available = set()


def use(row):
    used_datasets.add(row["dataset_hdx_id"])
    used_sources.add((row["dataset_hdx_id"], row["resource_hdx_id"]))


def note_unit(path, row, unit):
    first, second = unit.parent or unit, unit if unit.parent else None
    units = (first.name, first.code, second.name if second else "", second.code if second else "")
    available.add((*theme_name(path), unit.location["name"], unit.location["code"], *units, level_of(row, unit)))


def note_location(path, location):
    available.add((*theme_name(path), location["name"], location["code"], "", "", "", "", 0))


def theme_name(path):
    group, name = path.split("/")[-2:]
    return group, "hazards-rainfall" if name == "rainfall" else name


# Themes: for each the endpoint's path and (sort key, record) of every row


def placed(path, role, own_key, own_order, record):
    rows = last_of_each(theme(role), lambda row: (unit2(row).id, *providers(row), *own_key(row)))
    answers = []
    for row in rows:
        unit = unit2(row)
        use(row)
        note_unit(path, row, unit)
        answers.append(((unit.id, *own_order(row), *providers(row)), geography(row, unit) | resource(row) | record(row)))
    return path, answers


def conflict_events():
    return placed(
        "/api/v2/coordination-context/conflict-events",
        "conflict-events",
        lambda row: (row["event_type"], start(row)),
        lambda row: (rank(row, "event_type"), start(row)),
        lambda row: {"event_type": row["event_type"], "events": integer(row["events"]), "fatalities": integer(row["fatalities"])} | period(row),
    )


def operational_presence():
    def key(row):
        return row["org_acronym"], row["org_name"], row["sector_code"], start(row)

    def record(row):
        who = {"org_acronym": row["org_acronym"], "org_name": row["org_name"]}
        what = {"sector_code": row["sector_code"], "sector_name": SECTORS.get(row["sector_code"])}
        return who | what | period(row) | org_type(ORGS.get((row["org_acronym"], row["org_name"])))

    return placed("/api/v2/coordination-context/operational-presence", "operational-presence", key, key, record)


def humanitarian_needs():
    return placed(
        "/api/v2/affected-people/humanitarian-needs",
        "humanitarian-needs",
        lambda row: (row["category"], row["sector_code"], row["population_status"], start(row)),
        lambda row: (row["category"], row["sector_code"], rank(row, "population_status"), start(row)),
        lambda row: {name: row[name] for name in ("sector_code", "category", "population_status")}
        | {"population": integer(row["population"])}
        | period(row)
        | {"sector_name": SECTORS.get(row["sector_code"])},
    )


def idps():
    return placed(
        "/api/v2/affected-people/idps",
        "idps",
        lambda row: (row["assessment_type"], integer(row["reporting_round"]), row["operation"], start(row)),
        lambda row: (
            row["assessment_type"], integer(row["reporting_round"]), row["operation"], integer(row["population"]), start(row), end(row),
        ),
        lambda row: {
            "reporting_round": integer(row["reporting_round"]),
            "assessment_type": row["assessment_type"],
            "operation": row["operation"],
            "population": integer(row["population"]),
        }
        | period(row),
    )


def food_security():
    return placed(
        "/api/v2/food-security-nutrition-poverty/food-security",
        "food-security",
        lambda row: (row["ipc_phase"], row["ipc_type"], start(row)),
        lambda row: (rank(row, "ipc_phase"), rank(row, "ipc_type"), start(row)),
        lambda row: {
            "classification_phase": row["ipc_phase"],
            "classification_type": row["ipc_type"],
            "population_in_phase": integer(row["population_in_phase"]),
            "population_fraction_in_phase": decimal(row["population_fraction_in_phase"]),
        }
        | period(row),
    )


def rainfall():
    codes = ("provider_admin1_code", "provider_admin2_code")
    amounts = ("rainfall", "rainfall_long_term_average", "rainfall_anomaly_pct")
    path, answers = placed(
        "/api/v2/climate/rainfall",
        "rainfall",
        lambda row: (*(row[name] for name in codes), row["aggregation_period"], row["version"], start(row)),
        lambda row: (rank(row, "aggregation_period"), start(row), rank(row, "version")),
        lambda row: {"aggregation_period": row["aggregation_period"]}
        | {name: row[name] for name in codes}
        | {name: decimal(row[name]) for name in amounts}
        | {"number_pixels": integer(row["number_pixels"]), "version": row["version"] or None}
        | period(row),
    )
    return path, [((*key, *(record[name] for name in codes)), record) for key, record in answers]


def baseline_population():
    return placed(
        "/api/v2/geography-infrastructure/baseline-population",
        "baseline-population",
        lambda row: (row["gender"], row["age_range"], start(row)),
        lambda row: (rank(row, "gender"), row["age_range"], start(row)),
        lambda row: {"gender": row["gender"]} | ages(row) | {"population": integer(row["population"])} | period(row),
    )


def ages(row):
    return {"age_range": row["age_range"], "min_age": integer(row["min_age"]), "max_age": integer(row["max_age"])}


def funding():
    path, answers = "/api/v2/coordination-context/funding", []
    for row in last_of_each(theme("funding"), lambda row: (row["appeal_code"], row["location_code"], start(row))):
        location = LOCATIONS[row["location_code"]]
        use(row)
        note_location(path, location)
        appeal = {"appeal_code": row["appeal_code"], "appeal_name": row["appeal_name"], "appeal_type": row["appeal_type"] or None}
        money = {name: decimal(row[name]) for name in ("requirements_usd", "funding_usd", "funding_pct")}
        answers.append(((row["appeal_code"], location["id"], start(row)), resource(row) | appeal | money | country(location) | period(row)))
    return path, answers


def country(location, prefix=""):
    return {prefix + "location_code": location["code"], prefix + "location_name": location["name"]}


def national_risk():
    path, answers = "/api/v2/coordination-context/national-risk", []
    risks = ("overall_risk", "hazard_exposure_risk", "vulnerability_risk", "coping_capacity_risk")
    meta = ("meta_missing_indicators_pct", "meta_avg_recentness_years")
    for row in last_of_each(theme("national-risk"), lambda row: (row["location_code"], start(row))):
        if "resource_hdx_id" not in row:
            row["dataset_hdx_id"], row["resource_hdx_id"] = RISK_SOURCE
        location = LOCATIONS[row["location_code"]]
        use(row)
        note_location(path, location)
        record = {"risk_class": row["risk_class"], "global_rank": integer(row["global_rank"])}
        record |= {name: decimal(row[name]) for name in risks + meta}
        answers.append(((location["id"], start(row)), record | period(row) | resource(row) | country(location)))
    return path, answers


def movements(role):
    path, answers = "/api/v2/affected-people/" + role, []

    def key(row):
        origin, asylum = LOCATIONS[row["origin_location_code"]], LOCATIONS[row["asylum_location_code"]]
        return origin["id"], asylum["id"], rank(row, "population_group"), rank(row, "gender"), row["age_range"], start(row)

    for row in last_of_each(theme(role), key):
        origin, asylum = LOCATIONS[row["origin_location_code"]], LOCATIONS[row["asylum_location_code"]]
        use(row)
        note_location(path, origin)
        note_location(path, asylum)
        record = resource(row) | {"population_group": row["population_group"], "gender": row["gender"]} | ages(row)
        record |= {"population": integer(row["population"])} | period(row) | country(origin, "origin_") | country(asylum, "asylum_")
        answers.append((key(row), record))
    return path, answers


def food_prices():
    path, answers = "/api/v2/food-security-nutrition-poverty/food-prices-market-monitor", []

    def key(row):
        terms = row["unit"], rank(row, "price_flag"), rank(row, "price_type")
        return row["market_code"], row["commodity_code"], *terms, start(row)

    for row in last_of_each(theme("food-prices-market-monitor"), key):
        market, commodity = MARKETS[row["market_code"]], COMMODITIES[row["commodity_code"]]
        unit = unit2(market)
        use(row)
        note_unit(path, market, unit)
        record = geography(market, unit) | resource(row)
        record |= {"market_code": row["market_code"], "market_name": market["market_name"]}
        record |= {"commodity_code": row["commodity_code"], "commodity_name": commodity["name"], "commodity_category": commodity["category"]}
        record |= {name: row[name] for name in ("currency_code", "unit", "price_flag", "price_type")}
        record |= {"price": decimal(row["price"]), "lat": decimal(market["lat"]), "lon": decimal(market["lon"])}
        answers.append((key(row), record | period(row)))
    return path, answers


def poverty_rate():
    path, answers = "/api/v2/food-security-nutrition-poverty/poverty-rate", []
    figures = ("mpi", "headcount_ratio", "intensity_of_deprivation", "vulnerable_to_poverty", "in_severe_poverty")

    def key(row):
        return unit1(row).id, row["provider_admin1_name"], start(row)

    for row in last_of_each(theme("poverty-rate"), key):
        unit = unit1(row)
        use(row)
        note_unit(path, row, unit)
        record = geography(row, unit) | resource(row) | {name: decimal(row[name]) for name in figures} | period(row)
        answers.append((key(row), record))
    return path, answers


# Lists


def by(record, *names):
    return tuple(record[name] for name in names), record


def places():
    yield "/api/v2/metadata/location", [by(location, "id") for location in LOCATIONS.values()]
    answers = {1: [], 2: []}
    for level, units in ((1, LEVEL1), (2, LEVEL2)):
        for unit in units.values():
            if unit.placeholder:
                continue
            location = unit.location
            record = {"id": unit.id, "location_ref": location["id"]} if level == 1 else {"id": unit.id, "admin1_ref": unit.parent.id}
            record |= {"code": unit.code, "name": unit.name, "from_cods": True}
            record |= {"reference_period_start": unit.start, "reference_period_end": None}
            if level == 2:
                record |= {"admin1_code": unit.parent.code, "admin1_name": unit.parent.name}
            record |= country(location)
            if level == 2:
                record["location_ref"] = location["id"]
            answers[level].append(by(record, "id"))
    yield "/api/v2/metadata/admin1", answers[1]
    yield "/api/v2/metadata/admin2", answers[2]


def small_lists():
    currencies = {row["code"]: row["name"] for row in reference("currency")}
    yield "/api/v2/metadata/currency", [by({"code": code, "name": name}, "code") for code, name in currencies.items()]
    orgs = [{"acronym": acronym, "name": name} | org_type(code) for (acronym, name), code in ORGS.items()]
    yield "/api/v2/metadata/org", [by(record, "acronym", "name") for record in orgs]
    yield "/api/v2/metadata/org-type", [by({"code": code, "description": text}, "code") for code, text in ORG_TYPES.items()]
    yield "/api/v2/metadata/sector", [by({"code": code, "name": name}, "code") for code, name in SECTORS.items()]
    commodities = [{"code": code, "category": row["category"], "name": row["name"]} for code, row in COMMODITIES.items()]
    yield "/api/v2/metadata/agency-commodity", [by(record, "code") for record in commodities]
    markets = []
    for code, row in MARKETS.items():
        at = {"code": code, "name": row["market_name"], "lat": decimal(row["lat"]), "lon": decimal(row["lon"])}
        markets.append(by(geography(row, unit2(row)) | at, "code"))
    yield "/api/v2/metadata/agency-market", markets


def provider_links(package):
    name = package["organization"]["name"]
    return {
        "provider_catalog_link": f"{CATALOG_URL}/organization/{name}",
        "provider_catalog_api_link": f"{CATALOG_URL}/api/action/organization_show?id={name}",
    }


def has_tags(file):
    checks = json.loads(file.get("fs_check_info") or "[]")
    done = [check for check in (checks if isinstance(checks, list) else [checks]) if check.get("state") == "success"]
    if not done:
        return True
    newest = max(reversed(done), key=lambda check: check.get("timestamp", ""))
    return any(sheet.get("is_hxlated") for sheet in (newest.get("hxl_proxy_response") or {}).get("sheets") or [])


def sources():
    datasets, resources = [], []
    for package in PACKAGES.values():
        id, provider = package["id"], package["organization"]
        link, api_link = f"{CATALOG_URL}/dataset/{id}", f"{CATALOG_URL}/api/action/package_show?id={id}"
        if id in used_datasets:
            record = {"dataset_catalog_id": id, "dataset_catalog_stub": package["name"], "dataset_catalog_title": package["title"]}
            record |= {"catalog_provider_stub": provider["name"], "catalog_provider_name": provider["title"]}
            datasets.append(by(record | {"catalog_link": link, "catalog_api_link": api_link} | provider_links(package), "dataset_catalog_id"))
        for file in package["resources"]:
            if (id, file["id"]) not in used_sources:
                continue
            record = {"resource_catalog_id": file["id"], "dataset_catalog_id": id, "name": file["name"], "format": file["format"].lower()}
            record |= {"update_date": file["last_modified"][:19], "is_hxl": has_tags(file), "download_url": normal_uri(file["url"])}
            record |= {"api_updated_date": SNAPSHOT_TIME, "dataset_catalog_stub": package["name"], "dataset_catalog_title": package["title"]}
            record |= {"dataset_catalog_provider_stub": provider["name"], "dataset_catalog_provider_name": provider["title"]}
            record |= {"catalog_link": f"{link}/resource/{file['id']}"}
            record |= {"catalog_api_link": f"{CATALOG_URL}/api/action/resource_show?id={file['id']}"}
            record |= {"dataset_catalog_link": link, "dataset_catalog_api_link": api_link}
            resources.append(by(record | provider_links(package), "resource_catalog_id"))
    yield "/api/v2/metadata/dataset", datasets
    yield "/api/v2/metadata/resource", resources


def data_availability():
    answers = []
    for entry in available:
        category, subcategory, name, code, name1, code1, name2, code2, level = entry
        record = {
            "location_code": code,
            "location_name": name,
            "admin1_code": code1 if level >= 1 else None,
            "admin1_name": name1 if level >= 1 else None,
            "admin2_code": code2 if level >= 2 else None,
            "admin2_name": name2 if level >= 2 else None,
            "admin_level": level,
            "category": category,
            "subcategory": subcategory,
            "api_updated_date": SNAPSHOT_TIME,
        }
        answers.append((entry, record))
    return "/api/v2/metadata/data-availability", answers


# Texts

TIMES = {"reference_period_start", "reference_period_end", "update_date", "api_updated_date"}


def cell(name, value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, float):
        return repr(value)
    return value.replace("T", " ", 1) if name in TIMES else value


def csv_line(values):
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(values)
    return line.getvalue()


def main():
    out = sys.stdout
    themes = [
        conflict_events, operational_presence, funding, national_risk, humanitarian_needs, idps, food_security, food_prices, poverty_rate,
        rainfall, baseline_population, lambda: movements("refugees-persons-of-concern"), lambda: movements("returnees"),
    ]
    answers = [compute() for compute in themes] + list(places()) + list(small_lists()) + list(sources())
    for path, records in [*answers, data_availability()]:
        records = [record for _, record in sorted(records, key=lambda answer: answer[0])]
        out.write(json.dumps({"path": path, "fields": csv_line(records[0])}) + "\n")
        for record in records:
            text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
            line = csv_line([cell(name, value) for name, value in record.items()])
            out.write(json.dumps({"json": text, "csv": line}) + "\n")


main()
