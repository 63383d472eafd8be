"""Recomputes what pages show, with DuckDB over the CSV of whole lists, and compares.

Usage: views.py BASE VIEWS COUNTRIES SEED. It opens VIEWS random views of each of the 13 lists of
data and the pages of COUNTRIES countries, and reads every figure: tiles, tables below charts, marks,
areas of maps, how many units have records. It shares no code with the service, which it asks only
for rows and for the pages. What may be added up it decides itself, from LAW: a page that shows a
sum which counts twice is a fault, and so is one that refuses a right sum, or refuses without a
button to a page that shows a figure. It compares the headline figures of all countries too, and
sums at the coarsest level of every list that has levels.
"""

import collections
import datetime
import html
import json
import random
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

import duckdb

BASE, VIEWS, COUNTRIES, SEED = sys.argv[1].rstrip("/"), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
HEADERS = {"X-HDX-HAPI-APP-IDENTIFIER": "ZmlndXJlczptZUBleGFtcGxlLm9yZw=="}
RANDOM = random.Random(SEED)
EVERYBODY = {"category": ("", "total"), "gender": ("all",), "age_range": ("all",)}


class Law:
    """What the numbers of a list are, and what adding over its fields means.

    split: what tells rows of one place and period apart, the rest of a series. apart: values that count
    the same people, never added over. totals: a field, a value, and what it contains (nothing: all
    others). alike: averages are of one value. time: stock is of one period, yearly of one year, and the
    periods of a flow do not overlap."""

    def __init__(self, path, sums="", means="", split="", apart="", totals=(), alike="", time="stock", edition=None,
                 filters="", whole=False, ages=False):
        self.path, self.name, self.sums, self.means = path, path.split("/")[-1], sums.split(), means.split()
        self.split, self.apart, self.alike, self.filters = split.split(), apart.split(), alike.split(), filters.split()
        self.totals, self.time, self.whole, self.ages = totals, time, whole, ages
        self.edition = None if edition is None else edition.split()


JOURNEY = dict(
    sums="population", split="origin_location_code asylum_location_code population_group gender age_range",
    totals=(("population_group", "all", ()), ("gender", "all", ()), ("age_range", "all", ())), ages=True,
    edition="population_group", whole=True,
    filters="origin_location_code asylum_location_code population_group gender age_range")
LAW = {law.name: law for law in (
    Law("affected-people/humanitarian-needs", "population", split="sector_code category population_status",
        apart="sector_code category population_status", edition="population_status category",
        filters="location_code admin1_code sector_code population_status"),
    Law("affected-people/idps", "population", split="assessment_type operation",
        apart="assessment_type operation reporting_round", edition="",
        filters="location_code admin1_code"),
    Law("affected-people/refugees-persons-of-concern", **JOURNEY),
    Law("affected-people/returnees", **JOURNEY, time="yearly"),
    Law("food-security-nutrition-poverty/food-security", "population_in_phase",
        split="classification_phase classification_type", apart="classification_type",
        totals=(("classification_phase", "all", ()), ("classification_phase", "3+", ("3", "4", "5"))),
        edition="classification_type", filters="location_code admin1_code classification_phase classification_type"),
    Law("food-security-nutrition-poverty/food-prices-market-monitor", means="price", time="flow",
        split="market_code commodity_code unit price_flag price_type",
        alike="commodity_code unit currency_code price_flag price_type",
        filters="location_code market_code commodity_code price_flag price_type"),
    Law("food-security-nutrition-poverty/poverty-rate", edition="", filters="location_code admin1_code"),
    Law("coordination-context/conflict-events", "events fatalities", split="event_type", time="flow",
        totals=(("event_type", "political_violence", ("civilian_targeting",)),),
        filters="location_code admin1_code event_type"),
    Law("coordination-context/funding", "requirements_usd funding_usd", split="location_code appeal_code", time="flow",
        edition="", filters="location_code appeal_code"),
    Law("coordination-context/national-risk", split="location_code", edition="", filters="location_code risk_class"),
    Law("coordination-context/operational-presence", split="org_acronym org_name sector_code", edition="",
        filters="location_code admin1_code"),
    Law("climate/rainfall", means="rainfall rainfall_long_term_average", split="aggregation_period version",
        alike="aggregation_period version", time="flow", edition="aggregation_period version",
        filters="location_code admin1_code aggregation_period version"),
    Law("geography-infrastructure/baseline-population", "population", split="gender age_range",
        totals=(("gender", "all", ()), ("age_range", "all", ())), ages=True, edition="",
        filters="location_code admin1_code gender age_range"),
)}

faults, seen = [], collections.Counter()


def count(what, n=1):
    seen[what] += n


def fault(where, text):
    faults.append("%s: %s" % (where, text))


def snapshot_day():
    url = BASE + "/hapi/api/v2/metadata/location?limit=1"
    with urllib.request.urlopen(urllib.request.Request(url, headers=HEADERS)) as answer:
        return "-".join(re.match(r"(....)(..)(..)", answer.headers["X-Snapshot-Id"]).groups())


def get(path):
    request = urllib.request.Request(path if path.startswith("http") else BASE + path, headers=HEADERS)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read()


TODAY = snapshot_day()

# Rows. A place is its code, or without one what the provider calls it; a province is known by both.

DB = duckdb.connect()
for law in [*LAW.values(), Law("metadata/admin1"), Law("metadata/admin2"), Law("metadata/location"), Law("metadata/resource")]:
    status, body = get("/hapi/api/v2/" + law.path + "/export?output_format=csv")
    assert status == 200, (law.path, status, body[:300])
    with open(sys.argv[5] + "/" + law.name + ".csv", "wb") as f:
        f.write(body)
    DB.execute("create view csv as from read_csv('%s', all_varchar=true, header=true, quote='\"', escape='\"', "
               "max_line_size=10000000)" % f.name)
    columns = [c[0] for c in DB.execute("describe csv").fetchall()]
    rename = {c: c.replace("_hdx_", "_catalog_").replace("ipc_", "classification_") for c in columns}
    text = ", ".join('coalesce("%s", \'\') as "%s"' % (c, rename[c]) for c in columns)
    DB.execute('create table "raw" as select %s from csv; drop view csv' % text)
    law.columns = columns = list(rename.values())
    if law.path.startswith("metadata"):
        DB.execute('create table "%s" as from raw; drop table raw' % law.name)
        continue
    has = lambda c, text=None: (text or c) if c in columns else "''"
    known = lambda c: "(%s <> '' and %s not like '%%-XXX')" % (has(c), has(c))
    everybody = lambda c: "case when %s in %s then 'everybody' else %s end" % (c, str((*EVERYBODY[c], "-")), c) \
        if c in EVERYBODY else c
    names = [has("provider_admin%d_%s" % (n, what)) for n in (1, 2) for what in ("name", "code")]
    level = "cast(admin_level as int)" if "admin_level" in columns else "0"
    DB.execute("""create table "%s" as select *, %s as lvl, row_number() over () as rid,
        %s as country, reference_period_start as ps, if(reference_period_end = '', '9999', reference_period_end) as pe,
        concat_ws('|', %s) as split, concat_ws('|', %s) as series,
        case when lvl = 0 then '' when %s then %s else 'name ' || %s || '|' || %s end as province,
        'name ' || %s || '|' || %s as province_name,
        case when lvl < 2 then '' when %s then %s else 'name ' || %s || '|' || %s end as district,
        %s as deeper from raw; drop table raw""" % (
        law.name, level, has("location_code"), ", ".join(everybody(c) for c in law.split) or "''",
        ", ".join(law.split + [c for c in columns if re.match("provider_.*_code", c)]) or "''",
        known("admin1_code"), has("admin1_code"), *names[:2], *names[:2], known("admin2_code"), has("admin2_code"), *names[2:],
        "(lvl < 2 and %s || %s <> '') or (lvl < 1 and %s || %s <> '')" % (*names[2:], *names[:2])))

UNITS = {n: dict(DB.execute("select location_code, count(*) from admin%d group by 1" % n).fetchall()) for n in (1, 2)}
NAMES = dict(DB.execute("select code, name from location").fetchall())


def quoted(value):
    return "'" + value.replace("'", "''") + "'"


def instant(name, text):
    """Where a date begins, or of end_date where the year, the month or the day is over."""
    if len(text) > 10:
        return text
    day = datetime.date.fromisoformat((text + "-01-01")[:10])
    if name == "end_date":
        month = day.year * 12 + day.month - 1 + {4: 12, 7: 1}.get(len(text), 0)
        day = day + datetime.timedelta(1) if len(text) == 10 else datetime.date(month // 12, month % 12 + 1, 1)
    return "%sT00:00:00" % day


def condition(law, name, values):
    """A filter as SQL, None for what is no filter."""
    if name == "start_date":
        return "replace(pe, ' ', 'T') >= " + quoted(instant(name, values[0]))
    if name == "end_date":
        return "replace(ps, ' ', 'T') < " + quoted(instant(name, values[0]))
    if name == "everybody":
        return " and ".join("%s in %s" % (c, str((*of, "-"))) for c, of in EVERYBODY.items() if c in law.columns)
    if name.endswith("__in"):
        return "%s in (%s)" % (name[:-4], ", ".join(quoted(v) for all in values for v in all.split(",")))
    if name.endswith("_min"):
        return "cast(nullif(%s, '') as decimal(38,18)) >= %s" % (name[:-4], values[0])
    if name == "sector_code":  # matches a part
        return "contains(sector_code, %s)" % quoted(values[0])
    if values == ["%"]:
        return "%s <> ''" % name
    if name in law.columns:
        return "%s = %s" % (name, quoted(values[0]))
    raise ValueError(name)


def choose(law, params):
    """Makes the table `passing` of the rows that a question is about: filters, then the coarsest, then
    the newest."""
    where = ["true"]
    for name, values in params.items():
        if name in ("latest", "group_by", "measures", "limit", "offset", "measure", "by", "span", "fields", "snapshot"):
            continue
        if (name, values) != ("admin_level", ["coarsest"]):
            where.append(condition(law, name, values))
    DB.execute('create or replace temp table passing as from "%s" where %s' % (law.name, " and ".join(where)))
    coarsest = params.get("admin_level") == ["coarsest"]
    if coarsest:
        same = "b.country = a.country and b.split = a.split and b.ps = a.ps and b.pe = a.pe and not b.deeper"
        DB.execute("""create or replace temp table passing as from passing a
            where not (lvl > 0 and exists (from passing b where %s and b.lvl = 0))
            and not (lvl > 1 and exists (from passing b where %s and b.lvl = 1 and b.province = a.province))
            and not (lvl > 1 and exists (from passing b where %s and b.lvl = 1 and b.province_name = a.province_name
                     and b.province_name <> 'name |'))""" % (same, same, same))
    latest = params.get("latest", [""])[0]
    if latest == "true":
        DB.execute("""create or replace temp table passing as from passing
            qualify rank() over (partition by country, lvl, province, district, series order by pe desc, ps desc) = 1""")
    if latest != "edition":
        return
    if law.name == "funding":
        DB.execute("""create or replace temp table passing as from passing a where ps[1:4] =
            (select max(ps[1:4]) from passing b where b.country = a.country and b.appeal_type <> '')""")
    elif law.whole:  # of the whole list, at that time
        until = condition(law, "end_date", params["end_date"]) if "end_date" in params else "true"
        DB.execute("""create or replace temp table passing as from passing a where (pe, ps) =
            (select max((pe, ps)) from "%s" b where %s and b.population_group = a.population_group)""" % (law.name, until))
    else:
        fields = ["country"] + ([] if coarsest else ["lvl"])
        fields += ["%s in ('', 'total'), %s" % (c, "if(category in ('', 'total'), '', category)")
                   if c == "category" else c for c in law.edition]
        DB.execute("""create or replace temp table passing as from passing
            qualify rank() over (partition by %s order by pe desc, ps desc) = 1""" % ", ".join(fields))


PARTS = {"year": "ps[1:4]", "month": "ps[1:7]", "reference_period_start": "replace(ps, ' ', 'T')"}


def wrongs(law, params, function, groups):
    """Why the sum, or the mean, of the passing rows would be wrong, as a list of reasons."""
    found = []
    by = [PARTS.get(g, g) for g in groups]
    latest = params.get("latest", [""])[0]

    def any_of(reason, query):
        if DB.execute("select exists(%s)" % query).fetchone()[0]:
            found.append(reason)

    def group_of(*more):
        all = by + list(more)
        return "group by " + ", ".join(all) if all else ""

    apart = law.apart if function == "sum" else law.alike
    for c in [c for c in apart if c not in groups]:
        value = "if(%s in %s, 'everybody', %s)" % (c, str((*EVERYBODY[c], "-")), c) if c in EVERYBODY else c
        # Averages would compare groups that cannot be compared, but for months of which the newest are not final.
        each = group_of() if function == "sum" or c == "version" else ""
        any_of(c + " has several values", "select 1 from passing %s having count(distinct %s) > 1" % (each, value))
    for c, value, parts in [t for t in law.totals if t[0] not in groups]:
        part = "%s in %s" % (c, str((*parts, "-"))) if parts else "%s <> %s" % (c, quoted(value))
        any_of(c + " has a total and its parts",
               "select 1 from passing %s having bool_or(%s = %s) and bool_or(%s)" % (group_of(), c, quoted(value), part))
    if law.ages and "age_range" not in groups:
        same = " and ".join(["true"] + ["a.%s is not distinct from b.%s" % (g, g) for g in groups if g in law.columns])
        any_of("ages overlap", """select 1 from (select distinct * exclude (rid, population) from passing) a
            join passing b on %s and a.age_range < b.age_range
            and a.age_range <> 'all' and b.age_range <> 'all' and a.min_age <> '' and b.min_age <> ''
            and cast(a.min_age as int) <= coalesce(try_cast(b.max_age as int), 999)
            and cast(b.min_age as int) <= coalesce(try_cast(a.max_age as int), 999)""" % same)
    several = "select 1 from passing %s having count(distinct (ps, pe)) > 1"
    is_one = lambda by: not DB.execute("select exists(%s)" % (several % by)).fetchone()[0]
    if law.time == "stock" and latest != "edition" and not (latest == "true" and is_one("group by country, lvl")):
        any_of("several periods", several % group_of())
    if law.time == "yearly" and latest != "edition":
        any_of("several years", several % group_of())
    meets = "a.country = b.country and a.split = b.split and a.ps <= b.pe and b.ps <= a.pe"
    place = ["country", "lvl", "province", "district"]
    if "category" in law.columns and "category" not in groups:
        any_of("everybody counts twice", "select 1 from passing %s having count(*) > 1" % group_of(*place, "split", "ps", "pe"))
    lower = [g for g in groups if g.startswith("admin1_") or g.startswith("admin2_")]
    if lower and params.get("admin_level") == ["coarsest"]:
        any_of("not every row has the place", "select 1 from passing where lvl < %s" % max(lower)[5])
    if law.time == "flow" and function == "sum":
        any_of("periods of one place overlap", """select 1 from passing a join passing b on %s and a.rid < b.rid
            and a.series = b.series and a.lvl = b.lvl and a.province = b.province and a.district = b.district
            and (a.ps, a.pe) <> (b.ps, b.pe)""" % meets)
    pinned = params.get("admin_level") == ["coarsest"] and latest == "edition" or "reference_period_start" in groups
    if law.time == "stock" and not pinned and not is_one(group_of()):  # who was counted in a part is in a later whole
        meets = "a.country = b.country and a.split = b.split"
    if "admin_level" not in groups and "admin_level" in law.columns:
        any_of("a place and one that contains it", """select 1 from passing a join passing b on %s and b.lvl < a.lvl
            and not b.deeper and (b.lvl = 0 or b.province = a.province
            or (b.province_name = a.province_name and b.province_name <> 'name |'))""" % meets)
    return found


# The value of the newest rows, if they have one.
LATEST = """case when len(list_distinct(list_transform(list_filter(list({'at': pe || ps, 'v': F}),
    x -> x.at = max(pe || ps)), x -> x.v))) = 1 then arg_max(F, pe || ps) end"""


def measure_sql(text):
    function, _, field = text.partition(":")
    number = "cast(nullif(%s, '') as decimal(38,18))" % field
    return {"count": "count(*)", "sum": "sum(%s)" % number, "distinct": "count(distinct %s)" % field,
            "mean": "cast(sum(%s) as double) / count(%s)" % (number, number), "min": "min(%s)" % number, "max": "max(%s)" % number,
            "latest": LATEST.replace("F", number)}[function]


def evaluate(law, params):
    """The groups of an aggregate: values of its fields, and its measures."""
    choose(law, params)
    groups = [g for g in params.get("group_by", [""])[0].split(",") if g]
    measures = params["measures"][0].split(",")
    function = measures[0].partition(":")[0]
    found = wrongs(law, params, function, groups) if function in ("sum", "mean") else []
    fields = [PARTS.get(g, g) for g in groups]
    rows = DB.execute("select %s from passing %s" % (
        ", ".join(fields + [measure_sql(m) for m in measures]),
        "group by %s order by %s" % (", ".join(fields), ", ".join(fields)) if fields else "")).fetchall()
    k = len(groups)
    return groups, [(row[:k], [None if v is None else float(v) for v in row[k:]]) for row in rows], found


# Headline figures, as E10 defines them.

ALL = {"gender": ["all"], "age_range": ["all"]}


def summed(name, field, place="location_code", filters=(), function="sum", coarse=True):
    level = {"admin_level": ["coarsest"]} if coarse else {}
    return name, {**dict(filters), "latest": ["edition"], **level}, function + ":" + field, place


def needs(status):
    return summed("humanitarian-needs", "population", filters={
        "sector_code": ["Intersectoral"], "population_status": [status], "everybody": ["true"]})


def journey(name, group, place):
    return summed(name, "population", place, {"population_group": [group], **ALL}, coarse=False)


def conflict(event, field):
    return summed("conflict-events", field, filters={"event_type": [event]})


HEADLINES = {
    "people_in_need": needs("INN"), "people_targeted": needs("TGT"), "people_reached": needs("REA"),
    "internally_displaced": summed("idps", "population"),
    "refugees_by_asylum": journey("refugees-persons-of-concern", "REF", "asylum_location_code"),
    "refugees_by_origin": journey("refugees-persons-of-concern", "REF", "origin_location_code"),
    "returned_refugees": journey("returnees", "RET", "asylum_location_code"),
    "returned_idps": journey("returnees", "RDP", "asylum_location_code"),
    "people_in_phase_3_or_worse": summed("food-security", "population_in_phase", filters={
        "classification_type": ["current"], "classification_phase": ["3+"]}),
    "political_violence_events": conflict("political_violence", "events"),
    "political_violence_fatalities": conflict("political_violence", "fatalities"),
    "demonstration_events": conflict("demonstration", "events"),
    "civilian_targeting_events": conflict("civilian_targeting", "events"),
    "funding_asked": summed("funding", "requirements_usd", filters={"appeal_type": ["%"]}, coarse=False),
    "funding_received": summed("funding", "funding_usd", filters={"appeal_type": ["%"]}, coarse=False),
    "funding_received_all": summed("funding", "funding_usd", coarse=False),
    "funding_percent": summed("funding", "funding_usd", filters={"appeal_type": ["%"]}, coarse=False),
    "overall_risk": summed("national-risk", "overall_risk", function="one", coarse=False),
    "poverty_headcount": summed("poverty-rate", "headcount_ratio", filters={"admin_level": ["0"]}, function="one", coarse=False),
    "population": summed("baseline-population", "population", filters=ALL),
    "rainfall_percent_of_normal": summed("rainfall", "rainfall", filters={
        "aggregation_period": ["3-month"], "version": ["final"]}),
    "organisations_present": summed("operational-presence", "org_acronym", function="distinct", coarse=False),
    "price_change_in_a_year": summed("food-prices-market-monitor", "price", coarse=False),
}


def month_before(month, n):
    year, left = divmod(int(month[:4]) * 12 + int(month[5:7]) - 1 - n, 12)
    return "%04d-%02d" % (year, left + 1)


def headline(name, more):
    """A figure of all places that pass: {place: (value, (units, known units), end of its period)}."""
    list_name, params, measure, place = HEADLINES[name]
    until = more.get("end_date", [TODAY])[0]  # no figure is made of rows of the future
    more = {**more, "end_date": [TODAY if TODAY.startswith(until) else min(until, TODAY)]}
    law, params = LAW[list_name], {**params, **more}
    function, _, field = measure.partition(":")
    if name == "price_change_in_a_year":
        return price_changes(law, more)
    until = condition(law, "end_date", more["end_date"])
    if list_name == "conflict-events":
        last = DB.execute('select max(ps) from "%s" where %s' % (law.name, until)).fetchone()[0]
        if last is None:
            return {}
        del params["latest"]
        choose(law, {**params, "start_date": [month_before(last, 11)], "end_date": [last[:7]]})
    else:
        choose(law, params)
    number = "cast(nullif(%s, '') as decimal(38,18))" % field
    value = {"sum": "sum(%s)" % number, "distinct": "count(distinct %s)" % field,
             "one": "if(count(distinct %s) = 1 and min(lvl) = max(lvl) and max(lvl) = 0, max(%s), null)"
             % (field, number)}[function]
    if name == "funding_percent":
        value = "100 * sum(%s) / nullif(sum(cast(nullif(requirements_usd, '') as decimal(38,18))), 0)" % number
    if name == "rainfall_percent_of_normal":
        value = "100 * sum({0} * {1}) / nullif(sum(cast(nullif({2}, '') as double) * {1}), 0)".format(
            "cast(nullif(rainfall, '') as double)", "cast(nullif(number_pixels, '') as double)",
            "rainfall_long_term_average")
    lowest = """(select count(distinct if(b.lvl = 1, b.admin1_code, b.{1})) from passing b where b.{0} = a.{0}
        and b.lvl = max(a.lvl) and if(b.lvl = 1, b.admin1_code, b.{1}) not like '%-XXX')""".format(
            place, "admin2_code" if "admin2_code" in law.columns else "admin1_code")
    rows = DB.execute("select %s, %s, max(lvl), %s, max(pe) from passing a group by 1" % (
        place, value, lowest if "admin_level" in params else "0")).fetchall()
    found = {}
    DB.execute("create or replace temp table every as from passing")
    for code, value, lvl, units, end in rows:
        if function == "sum" and name not in ("funding_percent", "rainfall_percent_of_normal") and len(rows) > 0:
            DB.execute("create or replace temp table passing as from every where %s = %s" % (place, quoted(code)))
            if wrongs(law, params, "sum", [place]):
                value = None
        units = (units, UNITS[lvl][code]) if lvl and "admin_level" in params and UNITS[lvl].get(code) else None
        found[code] = (None if value is None else float(value), units, end)
    return found


def price_changes(law, more):
    choose(law, more)
    found = {}
    for code, last in DB.execute("select country, max(ps)[1:7] from passing group by 1").fetchall():
        key = "market_code, commodity_code, unit, price_flag, price_type, currency_code"
        at = """select %s, avg(cast(price as double)) as price from passing where country = %s and ps[1:7] = '{0}'
            group by all""" % (key, quoted(code))
        value = DB.execute("select 100 * (median(a.price / b.price) - 1) from (%s) a join (%s) b using (%s) where b.price > 0"
                           % (at.format(last), at.format(month_before(last, 12)), key)).fetchone()[0]
        found[code] = (value, None, last)
    return found


# Pages.

class Page:
    """The elements of a page that have figures."""

    def __init__(self, text):
        find = lambda pattern, of=text: re.findall("(?s)" + pattern, of)
        first = lambda pattern, of=text: (find(pattern, of) or [None])[0]
        self.total = number(first('<p class="total"[^>]*><strong>(.*?)</strong>'))
        self.tiles = [(plain(first("<h2>(.*?)</h2>", tile)), number((find('title="([^"]*)"', value) + [plain(value)])[0]),
                       plain(first("<p>(.*?)</p>", tile) or ""))  # its title, its figure, and of which countries that is
                      for tile in find('<div class="tile.*?<details') for value in find("<strong.*?</strong>", tile) or [""]]
        self.selects = {name: [html.unescape(v) for v in find('<option value="([^"]+)" selected', inner)]
                        for name, inner in find('<select id="choose-([a-z_]*)"(.*?)</select>')}
        self.options = {name: [html.unescape(v) for v in find('<option value="([^"]*)"', inner)]
                        for name, inner in find('<select id="(measure|by)"(.*?)</select>')}
        self.country = [{
            "name": TITLES[plain(title)], "value": first('<data value="([^"]*)"', row),
            "text": plain(row.replace("<small>", " ")), "shown": plain(first("<data[^>]*>(.*?)</data>", row) or ""),
        } for table in find('<table class="grid">.*?</table>')
            for title, row in find('<th scope="row">(.*?)</th>(.*?)</tr>', table)]
        self.figures = []
        for section in find('<section class="figure".*?</section>'):
            rows = [[cell(*c) for c in find("<t[dh]([^>]*)>(.*?)</t[dh]>", row)] for row in find("<tr>(.*?)</tr>", section)]
            self.figures.append({
                "units": units_of(" ".join(find('<p class="soft">([^<]*(?:reported|have data)[^<]*)<', section))),
                "head": rows[:1], "rows": rows[1:], "warned": '<p class="warning">This is not' in section,
                "kinds": (first('<p class="soft">Not drawn, since they are of another kind: ([^<]*)', section) or "").count(" per "),
                "newest": find('<p class="soft">The newest [^<]* months are shown', section),
                "turned": '<p class="warning">Drawn by ' in section,
                "instead": len(find("<li><[^>]*><bdi>[^<]*(?:, in place of: |each value of: )", section)),
                "more": [(html.unescape(address), number(n)) for address, n in find(
                    '<p><a href="([^"]*)" rel="nofollow">and ([^<]*) more<', section)],
                "source": html.unescape(first('<pre class="call"><code>([^<]*)', section) or ""),
                "button": html.unescape(first('<a class="button" href="([^"]*)"', section) or ""),
                "marks": [html.unescape(m) for m in find("<title>([^<]*)</title>", section)]})


def plain(text):
    """The words of HTML."""
    return " ".join(html.unescape(re.sub("<[^>]*>", "", text)).replace("\u202f", "").split())


def cell(attributes, inner):
    """A cell of a table: what it says before a code, its code, its exact value and where it leads."""
    attribute = lambda name: html.unescape((re.findall(' %s="([^"]*)"' % name, attributes + inner) or [""])[0])
    lead, _, code = inner.partition("<small>")
    return {"text": plain(lead), "code": plain(code), "exact": attribute("title") or attribute("value"),
            "href": attribute("href")}


def number(text):
    """A number as a page writes it, None where there is none."""
    digits = re.sub("[\u202f\u00a0 ]", "", text or "").replace("\u2212", "-")
    try:
        return float(digits)
    except ValueError:
        return None


def words(text):
    """A number that is rounded to millions or billions."""
    digits, _, unit = re.sub("[\u202f\u00a0]", "", text).partition(" ")
    value = number(digits)
    return value if value is None or not unit else value * {"million": 1e6, "billion": 1e9, "trillion": 1e12}[unit]


def near(a, b, part=1e-9):
    return a is None and b is None or a is not None and b is not None and abs(a - b) <= part * max(abs(a), abs(b), 1e-9)


def exact(cell):
    """The value of a cell; what is shown is that, rounded."""
    shown, value = number(cell["text"]), number(cell["exact"]) if cell["exact"] else None
    if value is None:
        return shown
    return value if near(shown, value, 0.005) else "%s for %s" % (cell["text"], cell["exact"])


def open_page(path):
    status, body = get(path)
    count("pages")
    if status != 200:
        fault(path, "status %d" % status)
        return None
    return Page(body.decode())


# Comparisons.

TITLES = {}  # of figures
for record in json.loads(get("/api/v2/figures?limit=1000")[1])["data"]:
    TITLES[record["title"]] = record["name"]
assert set(TITLES.values()) == set(HEADLINES), "figures differ from those that are computed"
KNOWN = {}  # headline figures, by name and time


def headlines(name, more):
    """Figures of all countries are computed once."""
    key = name, json.dumps(more, sort_keys=True)
    if key not in KNOWN:
        KNOWN[key] = without_aged(name, more, headline(name, more))
    return KNOWN[key]


def without_aged(name, more, found):
    """Conflict, prices and rain of more than a year before the end of a question have no value there, if it
    leaves newer rows out."""
    law = LAW[HEADLINES[name][0]]
    if "end_date" not in more or law.name not in ("conflict-events", "food-prices-market-monitor", "rainfall"):
        return found
    last = instant("end_date", more["end_date"][0])
    newest = DB.execute('select max(ps) from "%s"' % law.name).fetchone()[0]
    if newest is None or newest.replace(" ", "T") < last:
        return found
    oldest = "%04d" % (int(last[:4]) - 1) + last[4:]
    return {code: (None if end.replace(" ", "T") < oldest[:len(end)] else value, units, end)
            for code, (value, units, end) in found.items()}


def rounded(name, value):
    """What is computed has three decimals."""
    return round(value, 3) if "percent" in name or "price" in name else value


def units_of(text):
    """The "n of m" of a text."""
    found = re.search("([0-9\u202f\u00a0]+) of ([0-9\u202f\u00a0]+) [a-z]*(?<!months)(?![a-z])", text)
    return (number(found[1]), number(found[2])) if found else None


def compare(where, got, want, cut=False):
    """Compares figures by key: each has several. With cut, some of the keys may be missing."""
    got = {k: sorted(v) for k, v in got.items() if v}
    want = {k: sorted(v) for k, v in want.items() if v}
    for key in got if cut else {**got, **want}:
        count("figures")
        a, b = got.get(key, []), want.get(key, [])
        if len(a) != len(b) or not all(near(x, y) for x, y in zip(a, b)):
            fault(where, "%s is %s, want %s" % (key, a, b))


def check_marks(where, figure):
    """What is drawn is what the table has."""
    if "market_code" in figure["source"]:  # neighbours share a mark
        return
    shown = {}  # two places may have one name, and old figures have their year
    for row in figure["rows"]:
        for year in ["", *[", " + min(year, TODAY[:4]) for year in re.findall("[0-9]{4}", row[-1]["text"])[-1:]]]:
            shown.setdefault(row[0]["text"] + year, []).extend(number(c["text"]) for c in row[1:])
    for mark in figure["marks"]:
        name, _, text = re.sub("[\u2066-\u2069]", "", mark).rpartition(": ")
        value = number(text)
        if value is None or not name:
            continue
        count("marks")
        name = " ".join(name.split()).rstrip("…")
        row = shown.get(name) or shown.get(name.split(" ")[-1]) or shown.get(name + " " + text)
        if row is None:  # bars show the name without its code
            row = [v for label, of in shown.items() if label.startswith(name) for v in of]
        if value not in row:
            fault(where, "the mark %s is not in the table: %s" % (mark, row))


def key_of(row, field):
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(row[0]["href"]).query)
    if field in query:
        return query[field][0]
    return row[0]["code"] or row[0]["text"]


def check_aggregate(where, law, params, figure):
    """Compares the table of a drawing with the groups of its question."""
    groups, rows, found = evaluate(law, params)
    if found:
        fault(where, "shows a sum, but %s (%s)" % (found, params))
        return
    first, is_time = groups[0], groups[0] in PARTS
    measures = params["measures"][0].split(",")
    if measures[0].startswith("min:"):  # one value, or none
        measures, rows = measures[:1], [(key, v[:1] if v[0] == v[1] else [None]) for key, v in rows]
    reduced = {}
    for key, values in rows:
        label = key[0][:7] if first == "reference_period_start" else key[0]
        if groups[:2] == ["month", "market_code"]:  # of the markets of a month
            rest = tuple(v for g, v in zip(groups, key) if g in ("currency_code", "unit", "price_type", "location_code"))
        elif "reporting_round" in groups:
            rest = tuple(v for g, v in zip(groups, key) if g not in (first, "reporting_round"))
        else:
            rest = key[1:]
        reduced.setdefault((label, *rest), []).append(values)
    want, kinds = {}, {key[1:] for key in reduced}
    years = [c["text"] for c in figure["head"][0][1:] if re.fullmatch("[0-9]{4}", c["text"])]
    if first == "month" and years:  # the months of two years beside each other
        months = [[{"text": "%s-%02d" % (year, datetime.datetime.strptime(row[0]["text"], "%B").month)}, row[1 + k]]
                  for row in figure["rows"] for k, year in enumerate(years)]
        figure = {**figure, "rows": months}
        reduced = {key: all for key, all in reduced.items() if key[0][:4] in years}
        if years != sorted({key[0][:4] for key in reduced}, reverse=True) or len(years) != 2:
            fault(where, "compares the years %s" % years)
    elif groups == ["age_range", "gender"]:  # a pyramid is of the parts
        reduced = {key: all for key, all in reduced.items() if key[0] != "all"} or reduced
    for key, all in reduced.items():
        for k in range(len(measures)):
            known = sorted(v[k] for v in all if v[k] is not None)
            if groups[:2] == ["month", "market_code"] and known:
                half = len(known) // 2
                known = [round(known[half] if len(known) % 2 else (known[half - 1] + known[half]) / 2, 3)]
            elif len(all) > 1:
                known = [all[-1][k]] if all[-1][k] is not None else []
            want.setdefault(key[1:] if figure["kinds"] else (), {}).setdefault(key[0], []).extend(known)
    if figure["kinds"]:  # of prices the kind with the most months is drawn, and the page names the others
        others = len(kinds) - 1  # those of months that are too long ago to be drawn are named too
        if others > figure["kinds"] or others < figure["kinds"] and "start_date" not in params:
            fault(where, "names %d other kinds of %s" % (figure["kinds"], kinds))
        most = max(len(of) for of in want.values())
        known = {row[0]["text"]: exact(row[1]) for row in figure["rows"]}
        of = [of for of in want.values() if len(of) == most]
        want = next((of for of in of if any(near(known.get(k), v[0]) for k, v in of.items() if v)), of[0])
    else:
        want = want.get((), {})
    got = {}
    if is_time and figure["head"][0][-1]["text"] == "Countries":  # that are added up
        place = [c for c in ("location_code", "origin_location_code", "asylum_location_code")
                 if c in law.columns and len(params.get(c, ())) != 1 and c not in groups][-1]
        of = dict(DB.execute("select %s, count(distinct %s) from passing group by 1" % (PARTS[first], place)).fetchall())
        compare(where + " countries", {row[0]["text"]: [number(row.pop()["text"])] for row in figure["rows"]},
                {row[0]["text"]: [of[row[0]["text"]]] for row in figure["rows"]})
    for row in figure["rows"]:
        key = row[0]["text"] if is_time else key_of(row, first)
        values = [exact(c) for c in row[1:]]
        for v in values:
            if isinstance(v, str):
                fault(where, "shows " + v)
        got.setdefault(key, []).extend(v for v in values if isinstance(v, float))
    if is_time:
        last = max(want)
        if len(last) == 7:  # the newest 36 months, of a time that was chosen 600, which the page says
            most = 600 if "start_date" in params or "end_date" in params else 36
            late = {k: v for k, v in want.items() if k >= month_before(last, most - 1)}
            if len(late) < len(want) and not figure["newest"]:
                fault(where, "leaves out months before %s without a word" % min(late))
            want = late
    worded = [k for k in got if k not in want]
    if worded:  # values in words: as many groups have each figure
        a = sorted(v for k in worded for v in got.pop(k))
        left = [k for k in want if k not in got]
        b = sorted(v for k in left for v in want.pop(k))
        if len(figure["rows"]) >= 600:  # the table is cut
            b = [next((v for v in b if near(v, x)), None) for x in a]
            b = [v for v in b if v is not None]
        got["in words"], want["in words"] = a, b
    compare(where, got, want, cut=len(figure["rows"]) >= 600)


def check_national(where, law, params, figure):
    """A sum over units is not taken for the figure of a country, where that is another one."""
    by = [g for g in params["group_by"][0].split(",") if g != "location_code"] + ["location_code"]
    question = {**params, "group_by": [",".join(by)], "measures": params["measures"][0].split(",")[:1]}
    of = []
    for level in (params["admin_level"], ["coarsest"]):
        _, rows, found = evaluate(law, {**question, "admin_level": level})
        if found:
            return
        of.append({})
        for key, value in rows:
            if value != [None]:
                of[-1].setdefault(key[-1], {})[key] = value
    differ = [c for c in of[0] if c in of[1] and of[0][c] != of[1][c]]
    count("sums beside those of countries")
    if bool(differ) != figure["warned"]:
        fault(where, "of %s there is another figure of the country; the page says so: %s" % (differ, figure["warned"]))


def check_units(where, law, params, figure):
    """Of how many units a sum by country is: the smallest part of a country."""
    choose(law, params)
    code = "if(lvl = 1, admin1_code, %s)" % ("admin2_code" if "admin2_code" in law.columns else "admin1_code")
    parts = [(n, UNITS[lvl][c]) for c, lvl, n in DB.execute("""select country, lvl, count(distinct if({0} not like '%-XXX',
        {0}, null)) from passing a where lvl = (select max(lvl) from passing b where b.country = a.country) and lvl > 0
        group by 1, 2""".format(code)).fetchall() if UNITS[lvl].get(c)]
    want = min(parts, key=lambda part: part[0] / part[1], default=(1, 1))
    count("sums of units")
    if any(re.match("admin[12]_", name) for name in params):  # others are not asked for
        want = (1, 1)
    is_least = figure["units"] in parts and figure["units"][0] / figure["units"][1] == want[0] / want[1]
    if not is_least and figure["units"] != (None if want[0] == want[1] else want):
        fault(where, "says %s units, want %s" % (figure["units"], want))


def check_headline_table(where, name, params, figure):
    """Compares the table of a headline figure by country."""
    place = HEADLINES[name][3]
    titles = [TITLES.get(c["text"]) for c in figure["head"][0]]
    more = {k: v for k, v in params.items() if k in ("end_date", "commodity_code")}
    codes = params.get("location_code") or [c for all in params.get("location_code__in", []) for c in all.split(",")]
    for column, title in enumerate(titles):
        if title is None:
            continue
        of = headlines(title, more)
        if codes:
            of = {k: v for k, v in of.items() if k in codes}
        want = {k: [] if v[0] is None else [rounded(title, v[0])] for k, v in of.items()}
        got = {}
        for row in figure["rows"]:
            value = exact(row[column])
            got[key_of(row, place)] = [] if value is None else [value]
            units = of.get(key_of(row, place), (None, None))[1]
            if title == name and want.get(key_of(row, place)):
                shown = units_of(row[-1]["text"])
                if (units if units and units[0] != units[1] else None) != shown:
                    fault(where, "%s: units %s, want %s" % (key_of(row, place), shown, units))
        if title != name:  # of the countries of the figure
            want = {k: v for k, v in want.items() if k in got}
        compare(where + " " + title, got, want)


def check_figure(where, figure):
    for address, n in figure["more"]:  # the lines that the page leaves out
        whole = [f for f in open_page(address).figures if f["source"] == figure["source"]]
        texts = lambda f: [[c["text"] for c in row] for row in f["rows"]]
        if not whole or texts(whole[0])[:-int(n)] != texts(figure):
            fault(where, "says that there are %d more lines: %s" % (n, address))
            return
        figure = {**figure, "rows": whole[0]["rows"]}
    source = urllib.parse.urlsplit(figure["source"])
    params = urllib.parse.parse_qs(source.query)
    parts = source.path.split("/")
    if parts[-2] == "figures":
        check_headline_table(where, parts[-1], params, figure)
    else:
        check_aggregate(where, LAW[parts[-2]], params, figure)
        if "admin_level" in LAW[parts[-2]].columns and params["group_by"] == ["location_code"] \
                and params["measures"][0].startswith("sum:"):
            check_units(where, LAW[parts[-2]], params, figure)
        if params.get("admin_level", [""])[0] in ("1", "2") and params["measures"][0].startswith("sum:"):
            check_national(where, LAW[parts[-2]], params, figure)
    check_marks(where, figure)


def check_tiles(where, view, tiles):
    """A tile is the sum of countries that have figures of one year, else the one that it names."""
    for title, value, text in tiles:
        name = TITLES[title]
        place, measure = HEADLINES[name][3], HEADLINES[name][2]
        more = {k: v for k, v in view.items() if k in ("end_date", "commodity_code")}
        codes = view.get(place) or [c for all in view.get(place + "__in", []) for c in all.split(",")]
        of = {k: v for k, v in headlines(name, more).items() if v[0] is not None and (not codes or k in codes)}
        ends = sorted(v[2] for v in of.values())
        is_year = not of or ends[-1][:10] <= "%04d%s" % (int(ends[0][:4]) + 1, ends[0][4:10])
        ratio = name == "funding_percent"
        count("tiles")
        if not of:
            want, said = None, ""
        elif len(of) > 1 and is_year and measure.startswith("sum:") and name[:5] not in ("rainf", "price"):
            want, said = sum(v[0] for v in of.values()), "%d countries" % len(of)
            if ratio:  # of all together
                part, whole = (sum(headlines(h, more)[k][0] for k in of) for h in ("funding_received", "funding_asked"))
                want = round(100 * part / whole, 6)
        else:
            code = (min if ratio else max)(of, key=lambda k: (of[k][0], k))
            order = ", the %s of %d countries" % ("lowest" if ratio else "highest", len(of)) if len(of) > 1 else ""
            same = [c for c in of if of[c][0] == of[code][0] and text.startswith(NAMES[c] + order)]
            want, said = rounded(name, of[code][0]), NAMES[(same or [code])[0]] + order
        if not near(value, want) or not text.startswith(said):
            fault(where, "the tile %s is %s of %s, want %s of %s" % (name, value, text, want, said))


def check_heal(where, figure):
    count("refused")
    if not figure["button"]:
        fault(where, "refuses without a button")
        return
    page = open_page(figure["button"])
    if page is None:
        return
    if any(f["button"] for f in page.figures) or not (page.tiles or page.selects or any(f["rows"] for f in page.figures)):
        fault(where, "the button leads to %s, without a figure" % figure["button"])


def random_view(law):
    """Filters that at least one row passes, and sometimes what to draw."""
    row = dict(zip(law.columns, DB.execute('select %s from "%s" where rid = %d' % (
        ", ".join(law.columns), law.name, RANDOM.randrange(law.rows) + 1)).fetchone()))
    view = {}
    for name in RANDOM.sample(law.filters, min(RANDOM.choice((0, 1, 1, 2, 3)), len(law.filters))):
        value = row[name]
        if value and not value.endswith("-XXX"):
            view[name] = [value]
    if "location_code" in view and RANDOM.random() < 0.3:
        others = [r[0] for r in DB.execute('select distinct country from "%s" order by 1' % law.name).fetchall()]
        codes = sorted({view.pop("location_code")[0], *RANDOM.sample(others, min(2, len(others)))})
        view["location_code__in"] = [",".join(codes)]
    if "admin_level" in law.columns and RANDOM.random() < 0.6:
        view["admin_level"] = [RANDOM.choice((row["admin_level"], "coarsest"))]
    if RANDOM.random() < 0.5:
        view["latest"] = [RANDOM.choice(("true", "edition")) if law.edition is not None else "true"]
    if RANDOM.random() < 0.3 and any(c in law.columns for c in EVERYBODY):
        view["everybody"] = ["true"]
    if RANDOM.random() < 0.3:
        part = RANDOM.choice((4, 7, 10))
        view[RANDOM.choice(("start_date", "end_date"))] = [row["reference_period_start"][:part]]
    if RANDOM.random() < 0.75:
        view["measure"] = [RANDOM.choice(law.measures)]
        view["by"] = [RANDOM.choice(law.bys)]
    return view


def check_view(law, view):
    where = "/browse/%s?%s" % (law.name, urllib.parse.urlencode(view, doseq=True))
    page = open_page(where)
    if page is None:
        return
    count("views")
    choose(law, view)
    total = DB.execute("select count(*) from passing").fetchone()[0]
    if page.total != total:
        fault(where, "%s records, want %d" % (page.total, total))
        return
    check_tiles(where, {**view, **page.selects}, page.tiles)
    for figure in page.figures:
        if figure["rows"]:
            check_figure(where, figure)
            count("drawings")
        elif figure["button"] or "measure" in view and total:
            check_heal(where, figure)
    if "measure" not in view or not total or not page.figures:
        return
    measure, by, figure = view["measure"][0], view["by"][0], page.figures[0]
    function = "count" if measure == "records" else "sum:" if measure in law.sums else "mean:"
    if measure == "org_acronym":
        function, asked = "distinct:", "distinct:" + measure
    elif measure not in ("records", *law.sums, *law.means):
        function, asked = "min:", "min:%s,max:%s" % (measure, measure)
    else:
        asked = function + measure if function != "count" else function
    # Countries share names of provinces.
    one = "location_code" in view or view.get("location_code__in", [","])[0].count(",") == 0
    fields = {"market": "market_code,market_name,lat,lon",
              "admin1_name": "admin1_code,admin1_name" + ("" if one else ",location_code")}.get(by, by)
    params = {**view, "measures": [asked], "group_by": [fields]}
    if figure["rows"]:
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(figure["source"]).query)
        is_by = (asked["group_by"][0] + ",").startswith(fields.split(",")[0] + ",")
        if asked["measures"] != params["measures"] or is_by == figure["turned"]:
            fault(where, "draws " + figure["source"])
        differ = [name for name, values in view.items() if name not in ("measure", "by") and
                  [instant(name, v) if name.endswith("_date") else v for v in values] !=
                  [instant(name, v) if name.endswith("_date") else v for v in asked.get(name, [])]]
        if len(differ) > figure["instead"]:
            fault(where, "leaves out %s without a word: %s" % (differ, figure["source"]))
    if function in ("sum:", "mean:") and (figure["turned"] or not figure["rows"]):
        if by in ("month", "year") and "__in" in str(view):
            params["group_by"][0] += ",location_code"
        _, rows, found = evaluate(law, params)
        if not found:
            fault(where, "refuses a right sum: %s" % rows[:3])


for law in LAW.values():
    law.rows = DB.execute('select count(*) from "%s"' % law.name).fetchone()[0]
    if not law.rows:
        continue
    options = open_page("/browse/%s?measure=records&by=year" % law.name).options
    law.measures, law.bys = options["measure"], options["by"]
    check_view(law, {})
    for _ in range(VIEWS):
        check_view(law, random_view(law))

newer_units = {c for c, in DB.execute(
    'select country from "poverty-rate" group by 1 having max(if(lvl > 0, ps, null)) > max(if(lvl = 0, pe, null))').fetchall()}

# Headline figures of all countries, as the interface has them, and what it says of their rows.
for name in HEADLINES:
    records = json.loads(get("/api/v2/figures/%s?limit=10000" % name)[1])["data"]
    of = headline(name, {})
    compare(name, {r["location_code"]: [] if r["value"] is None else [float(r["value"])] for r in records},
            {k: [] if v[0] is None else [rounded(name, v[0])]
             for k, v in of.items()})
    about = {} if name == "price_change_in_a_year" else {place: list(rest) for place, *rest in DB.execute(
        """select %s, count(*), min(ps), if(max(pe) = '9999', null, max(pe)), max(update_date),
        if(count(distinct p.resource_catalog_id) = 1 and max(update_date) is not null, min(p.resource_catalog_id), null),
        from passing p left join resource r on p.resource_catalog_id = r.resource_catalog_id group by 1""" % HEADLINES[name][3]).fetchall()}
    for r in records:
        units = of.get(r["location_code"], (None, None))[1]
        if r["units"] is not None and (r["units"], r["units_known"]) != units:
            fault(name, "%s: units %s of %s, want %s" % (r["location_code"], r["units"], r["units_known"], units))
        shown = [str(r[f]).replace("T", " ") for f in ("rows", "period_start", "period_end", "updated", "resource")]
        want = [str(v).replace("T", " ") for v in about.get(r["location_code"], shown)]
        count("descriptions", r["location_code"] in about)
        # A survey of provinces that is newer than that of the country is named beside its value.
        is_named = r["value"] is None or name == "poverty_headcount" and r["location_code"] in newer_units
        if shown != want or (r["reason"] is not None) != is_named:
            fault(name, "%s: %s is of %s, want %s" % (r["location_code"], r, shown, want))

# Pages of countries: those with the most figures, and others.
with_figures = {}
for name in HEADLINES:
    for code, (value, *_) in headlines(name, {}).items():
        if value is not None:
            with_figures.setdefault(code, {})[name] = value
codes = sorted(NAMES, key=lambda c: (-len(with_figures.get(c, ())), RANDOM.random()))
for code in codes[:COUNTRIES * 2 // 3] + RANDOM.sample(codes, min(len(codes), COUNTRIES // 3)):
    page = open_page("/country/" + code)
    count("countries")
    got = {t["name"]: [number(t["value"])] for t in page.country if t["name"] and t["value"]}
    want = {n: [rounded(n, v)] for n, v in with_figures.get(code, {}).items()}
    compare("/country/" + code, got, want)
    for t in page.country:
        if t["value"] and abs(number(t["value"]) - words(t["shown"])) > 0.05 * max(1, abs(number(t["value"]))):
            fault("/country/" + code, "%s: shows %s for %s" % (t["name"], t["shown"], t["value"]))
        units = t["name"] and headlines(t["name"], {}).get(code, (None, None))[1]
        if units and t["value"] and units_of(t["text"]) != units:
            fault("/country/" + code, "%s: units %s, want %s" % (t["name"], units_of(t["text"]), units))

# Sums at the coarsest level, for each country, series and period.
for law in LAW.values():
    if "admin_level" not in law.columns:
        continue
    fields = ["location_code", "admin_level", *law.split, *(["reporting_round"] if law.name == "idps" else []), "reference_period_start", "reference_period_end"]
    params = {"admin_level": ["coarsest"], "group_by": [",".join(fields)], "measures": [
        ",".join(["count"] + ["sum:" + f for f in law.sums])]}
    of, offset, got = {}, 0, {}
    while True:
        path = "/api/v2/%s/aggregate?limit=10000&offset=%d&%s" % (law.path, offset, urllib.parse.urlencode(params, doseq=True))
        status, body = get(path)
        if status != 200:
            fault(path, body[:300].decode())
            break
        records = json.loads(body)["data"]
        for r in records:
            key = tuple(str("" if r[f] is None else r[f]) for f in fields)
            got[key] = [float(v) for f, v in r.items() if f == "count" or f.startswith("sum_") and v is not None]
        offset += len(records)
        if len(records) < 10000:
            break
    fields = [f for f in fields[:-2]] + ["replace(ps, ' ', 'T')", "replace(reference_period_end, ' ', 'T')"]
    choose(law, params)
    rows = DB.execute("select %s, %s from passing group by all" % (
        ", ".join(fields), ", ".join(measure_sql(m) for m in params["measures"][0].split(",")))).fetchall()
    want = {tuple(r[:len(fields)]): [float(v) for v in r[len(fields):] if v is not None] for r in rows}
    compare(law.name + " at the coarsest level", got, want)
    count("coarsest sums", len(want))

for text in faults[:60]:
    print(text[:600])
print("%d faults; compared: %s" % (len(faults), ", ".join("%d %s" % (n, what) for what, n in sorted(seen.items()))))
sys.exit(1 if faults else 0)
