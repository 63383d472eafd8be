"""Fetches pages with requests: fetch.py < PLAN.

A line of the plan is a name, a URL and a value of Accept-Encoding, with tabs between. For each, this prints name, status, length and
SHA-256 of the body as the library hands it out.
"""

import hashlib
import sys

import requests

with requests.Session() as client:
    for line in sys.stdin:
        name, url, accept = line.rstrip("\n").split("\t")
        answer = client.get(url, headers={"Accept-Encoding": accept})
        print(name, answer.status_code, len(answer.content), hashlib.sha256(answer.content).hexdigest(), sep="\t")
