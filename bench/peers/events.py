"""Shared by the peers: the records of conflict events, how they are made from a view dump, and the
SQL of a request."""

from dataclasses import dataclass

FIELDS = (
    "location_code location_name admin1_code admin1_name admin2_code admin2_name admin_level "
    "resource_catalog_id event_type events fatalities reference_period_start reference_period_end"
).split()

# The columns of a CSV answer. Its times have a blank instead of a T and are columns of their own.
CSV_FIELDS = [f + "_csv AS " + f if f.startswith("reference_period") else f for f in FIELDS]

# A record prints the provider's name if its unit has no name, and nothing below its level.
LOAD = """
CREATE TABLE event AS
SELECT row_number() OVER (ORDER BY admin2_ref, event_type, reference_period_start,
                          provider_admin1_name, provider_admin2_name) - 1 AS id,
       location_code, location_name,
       CASE WHEN admin_level >= 1 THEN admin1_code END AS admin1_code,
       CASE WHEN admin_level >= 1 THEN
            CASE WHEN (admin1_name = '' OR lower(admin1_name) = 'unspecified') AND provider_admin1_name <> ''
                 THEN provider_admin1_name ELSE admin1_name END
       END AS admin1_name,
       CASE WHEN admin_level = 2 THEN admin2_code END AS admin2_code,
       CASE WHEN admin_level = 2 THEN
            CASE WHEN (admin2_name = '' OR lower(admin2_name) = 'unspecified') AND provider_admin2_name <> ''
                 THEN provider_admin2_name ELSE admin2_name END
       END AS admin2_name,
       admin_level, resource_hdx_id AS resource_catalog_id, event_type, events, fatalities,
       strftime(reference_period_start, '%Y-%m-%dT%H:%M:%S') AS reference_period_start,
       strftime(reference_period_end, '%Y-%m-%dT%H:%M:%S') AS reference_period_end,
       strftime(reference_period_start, '%Y-%m-%d %H:%M:%S') AS reference_period_start_csv,
       strftime(reference_period_end, '%Y-%m-%d %H:%M:%S') AS reference_period_end_csv,
       lower(admin1_name) AS unit_name, lower(provider_admin1_name) AS provider_name, has_hrp
FROM (SELECT * REPLACE (coalesce(provider_admin1_name, '') AS provider_admin1_name,
                        coalesce(provider_admin2_name, '') AS provider_admin2_name,
                        coalesce(admin1_name, '') AS admin1_name, coalesce(admin2_name, '') AS admin2_name)
      FROM read_csv(?, header = true, all_varchar = false, types = {
        'provider_admin1_name': 'VARCHAR', 'provider_admin2_name': 'VARCHAR', 'admin1_code': 'VARCHAR',
        'admin2_code': 'VARCHAR', 'admin1_name': 'VARCHAR', 'admin2_name': 'VARCHAR', 'has_hrp': 'BOOLEAN',
        'events': 'BIGINT', 'fatalities': 'BIGINT', 'reference_period_start': 'TIMESTAMP',
        'reference_period_end': 'TIMESTAMP', 'admin_level': 'INTEGER', 'admin2_ref': 'INTEGER'}))
ORDER BY id
"""


@dataclass
class Question:
    """The parameters of a request, set by the web framework."""

    location_code: str = ""
    event_type: str = ""
    admin1_name: str = ""
    has_hrp: bool | None = None
    start_date: str = ""
    end_date: str = ""
    limit: int = 10000
    offset: int = 0
    output_format: str = "json"

    def where(self, mark, order="ORDER BY id"):
        """Returns the clause that selects and orders rows, and its values. mark(i, type) is the
        database's i-th parameter.

        Times are text, which sorts in the same order. Ids number the rows in order, so a request
        without filters is a range of ids. The order is empty for a database that keeps the order of
        its table.
        """
        tests, values = [], []

        def test(text, value, kind="String"):
            parts = text.split("?")
            text = parts[0]
            for part in parts[1:]:
                text += mark(len(values), kind) + part
                values.append(value)
            tests.append(text)

        if self.location_code:
            test("location_code = ?", self.location_code.upper())
        if self.event_type:
            test("event_type = ?", self.event_type)
        if self.start_date:
            test("reference_period_end >= ?", self.start_date + "T00:00:00")
        if self.end_date:
            test("reference_period_start <= ?", self.end_date + "T23:59:59")
        if self.admin1_name:
            test("(unit_name LIKE ? OR provider_name LIKE ?)", f"%{self.admin1_name.lower()}%")
        if self.has_hrp is not None:
            test("has_hrp = ?", self.has_hrp, "Bool")
        if tests:
            return "WHERE " + " AND ".join(tests) + f" {order} LIMIT {self.limit:d} OFFSET {self.offset:d}", values
        return f"WHERE id >= {self.offset:d} AND id < {self.offset + self.limit:d} {order}", values
