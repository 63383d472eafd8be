"""Fetches pages with a library's usual calls: fetch.py requests|httpx < PLAN.

A line of the plan is a name, a URL and a value of Accept-Encoding ("-": the library's own), with tabs between. For each, this prints name,
status, length and SHA-256 of the body as the library hands it out.
"""

import hashlib
import sys


def session(library):
    if library == "requests":
        import requests

        return requests.Session()
    import httpx

    return httpx.Client(timeout=60)


def main():
    with session(sys.argv[1]) as client:
        for line in sys.stdin:
            name, url, accept = line.rstrip("\n").split("\t")
            answer = client.get(url, headers={} if accept == "-" else {"Accept-Encoding": accept})
            print(name, answer.status_code, len(answer.content), hashlib.sha256(answer.content).hexdigest(), sep="\t")


main()
