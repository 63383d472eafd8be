"""Latencies of the interface beside 20 people who browse, and without them.

    python3 bench/pages.py HDQS STORE [ROUNDS [SECONDS]]

HDQS is the program, STORE a store. The program is started with --identifier off --body-cache 0, so
that every answer is made anew. One client asks it 100 times a second for lists of four kinds. 20 people
browse beside it in one part of each round: each opens a page of records with all counts and a chart or
a map, reads it for 5 to 15 seconds, and follows one of its links, or begins anew. In the other part
they pause. The parts take turns in their order. ROUNDS is 8 and SECONDS of each part are 12: under four
minutes.

Prints the medians over the rounds, of the p50 and p99 of the client's requests with and without people
and of the ratio of both p99, in one line. With HDQS_VERBOSE=1 each round is a line too.
"""
import gzip
import html
import http.client
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import threading
import time

LISTS = [
    "/api/v2/coordination-context/conflict-events?location_code=AFG&limit=100",
    "/api/v2/affected-people/humanitarian-needs?location_code=TCD&admin_level=1&limit=100",
    "/api/v2/food-security-nutrition-poverty/food-prices-market-monitor?location_code=MLI&limit=1000",
    "/api/v2/metadata/location?limit=50",
]
PAGES = [
    "/browse/conflict-events?admin_level=2&event_type=political_violence&by=location_code",
    "/browse/conflict-events?admin_level=2&event_type=demonstration&location_code__in=AFG,SDN,TCD",
    "/browse/food-prices-market-monitor?by=market&measure=records",
    "/browse/food-prices-market-monitor?location_code=TCD&by=market&measure=records",
    "/browse/humanitarian-needs?location_code=AFG",
    "/browse/refugees-persons-of-concern?by=asylum_location_code&measure=records",
    "/browse/rainfall",
]
PEOPLE = 20
RATE = 100  # requests a second
LINK = re.compile(r'<a[^>]* href="(/browse/[^"#]*)')


def get(connection, path):
    """Returns the body, or None if the request was refused because the server is busy."""
    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status not in (200, 422, 503):  # 422: a link can lead to filters that do not go together
        raise SystemExit(f"{path}: {answer.status}")
    if answer.status == 503:
        return None
    return gzip.decompress(body) if answer.getheader("Content-Encoding") == "gzip" else body


class Person:
    """Someone who reads a page, then follows a link. All run in one process, which is not the client's."""

    def __init__(self, host, number):
        self.connection, self.chance = http.client.HTTPConnection(host), random.Random(number)
        self.path, self.due = None, 0.0

    def look(self):
        body = get(self.connection, self.path or self.chance.choice(PAGES))
        links = [html.unescape(link) for link in LINK.findall((body or b"").decode())]
        links = [link for link in links if "/download" not in link]
        self.path = self.chance.choice(links) if links and self.chance.random() < 0.7 else None


def browse(host):
    """Reads lines from standard input: 1 begins, 0 pauses. Answers each pause with the pages read so far.

    Reading takes its time in pauses too, so that people never look at pages all at once."""
    go = threading.Event()
    lock, pages = threading.Lock(), [0, 0]

    def live(person):
        time.sleep(person.chance.uniform(0, 15))
        while True:
            time.sleep(person.chance.uniform(5, 15))
            if not go.is_set():
                continue
            began = time.monotonic()
            person.look()
            with lock:
                pages[0] += 1
                pages[1] += time.monotonic() - began

    for number in range(PEOPLE):
        threading.Thread(target=live, args=(Person(host, number),), daemon=True).start()
    for line in sys.stdin:
        if line.strip() == "1":
            go.set()
        else:
            go.clear()
            with lock:
                print(json.dumps(pages), flush=True)


def measure(connection, seconds):
    began = time.monotonic()
    took, refused, late = [], 0, began
    for number in range(seconds * RATE):
        due = began + number / RATE
        time.sleep(max(0, due - time.monotonic()))
        # A request that had to wait for the one before it is as late as if it had been sent in time.
        sent = due if late > due else time.monotonic()
        refused += get(connection, LISTS[number % len(LISTS)]) is None
        late = time.monotonic()
        took.append((late - sent) * 1000)
    took.sort()
    return took[len(took) // 2], took[len(took) * 99 // 100], refused


def main():
    hdqs, store = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    seconds = int(sys.argv[4]) if len(sys.argv) > 4 else 12
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{s.getsockname()[1]}"
    server = subprocess.Popen(
        [hdqs, "serve", "--store", store, "--listen", host, "--admin", "", "--identifier", "off", "--body-cache", "0",
         "--log-format", "off"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    people = None
    try:
        connection = http.client.HTTPConnection(host)
        for _ in range(600):
            try:
                get(connection, LISTS[-1])
                break
            except OSError:
                connection.close()
                time.sleep(0.1)
        for path in LISTS + PAGES:
            get(connection, path)
        people = subprocess.Popen([sys.executable, __file__, "--people", host], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        tell(people, 0)
        rows, pages, spent = [], 0, 0.0
        for number in range(rounds):
            part = {}
            for browsing in (0, 1) if number % 2 == 0 else (1, 0):
                before = tell(people, 0)
                if browsing:
                    tell(people, 1)
                part[browsing] = measure(connection, seconds)
                after = tell(people, 0)
                pages, spent = pages + after[0] - before[0], spent + after[1] - before[1]
                time.sleep(0.5)
            rows.append((*part[0], *part[1]))
            if os.environ.get("HDQS_VERBOSE"):
                print("without %.2f %.2f ms, refused %d; beside %.2f %.2f ms, refused %d" % rows[-1], flush=True)
        column = list(zip(*rows))
        middle = [statistics.median(values) for values in column]
        ratio = statistics.median(beside / without for without, beside in zip(column[1], column[4]))
        print(f"without: p50 {middle[0]:.2f}, p99 {middle[1]:.2f} ms; beside {PEOPLE} people (p50 {middle[3]:.2f}, "
              f"p99 {middle[4]:.2f} ms): p99 {ratio:.2f} times; {pages} pages of {spent / max(pages, 1) * 1000:.1f} ms; "
              f"refused {sum(column[2])} and {sum(column[5])}; medians of {rounds} rounds of {seconds} s")
    finally:
        if people:
            people.terminate()
            people.wait()
        server.terminate()
        server.wait()


def tell(people, state):
    """Lets people browse or pause; returns how many pages they have read, and in how many seconds."""
    people.stdin.write(f"{state}\n")
    people.stdin.flush()
    return None if state else json.loads(people.stdout.readline())


if __name__ == "__main__":
    if sys.argv[1] == "--people":
        browse(sys.argv[2])
    else:
        main()
