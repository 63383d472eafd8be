"""Asks for conflict events with a generated client: generated.py GENERATOR FOLDER OPERATION URL IDENTIFIER.

This prints rows, X-Total-Count and the sum of fatalities, with tabs between.
"""

import importlib
import sys


def openapi_python_client(operation, url, identifier):
    from client import Client

    module = importlib.import_module("client.api.coordination_context." + operation)
    answer = module.sync_detailed(client=Client(base_url=url), app_identifier=identifier, location_code="AFG", limit=5000)
    if operation.startswith("list_"):  # the names of the public service have no exports
        export = importlib.import_module("client.api.coordination_context." + operation.replace("list_", "export_"))
        whole = export.sync_detailed(client=Client(base_url=url), app_identifier=identifier, location_code="AFG")
        if not isinstance(whole.parsed, str) or whole.parsed.count("\n") != len(answer.parsed.data) + 1:
            raise SystemExit(f"the export is {whole.parsed!r:.200}")
    return answer.parsed.data, answer.headers["X-Total-Count"]


def openapi_generator(operation, url, identifier):
    import openapi_client as client

    with client.ApiClient(client.Configuration(host=url)) as connection:
        call = getattr(client.CoordinationContextApi(connection), operation + "_with_http_info")
        answer = call(app_identifier=identifier, location_code="AFG", limit=5000)
    return answer.data.data, answer.headers["X-Total-Count"]


def main():
    generator, folder, operation, url, identifier = sys.argv[1:]
    sys.path.insert(0, folder)
    rows, total = globals()[generator](operation, url, identifier)
    print(len(rows), total, sum(row.fatalities or 0 for row in rows), sep="\t")


main()
