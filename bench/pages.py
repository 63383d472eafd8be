"""Latencies of the interface beside people who browse, and without them.

    python3 bench/pages.py http://127.0.0.1:8080 [rounds] [seconds]

One client asks the interface 100 times a second for lists of several kinds. In every second part 20
users look at pages of records with all counts, charts and maps, one page every two seconds each. The
server should run with --identifier off and --body-cache 0. Prints the p50 and p99 of each part, how
many of the client's requests were refused, and the median ratio of the p99 with users to that without.
"""
import http.client
import multiprocessing
import random
import statistics
import sys
import time
import urllib.parse

LISTS = [
    "/api/v2/coordination-context/conflict-events?location_code=AFG&limit=100",
    "/api/v2/affected-people/humanitarian-needs?location_code=TCD&admin_level=1&limit=100",
    "/api/v2/food-security-nutrition-poverty/food-prices-market-monitor?location_code=MLI&limit=1000",
    "/api/v2/metadata/location?limit=50",
]
PAGES = [
    "/browse/conflict-events?admin_level=2&event_type=political_violence&by=location_code",
    "/browse/conflict-events?admin_level=2&event_type=demonstration&location_code__in=AFG,SDN,TCD",
    "/browse/food-prices-market-monitor?location_code=TCD&by=market&measure=records",
    "/browse/humanitarian-needs?location_code=AFG",
    "/browse/refugees-persons-of-concern?by=asylum_location_code&measure=records",
    "/browse/rainfall",
]


def get(connection, path):
    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    answer.read()
    if answer.status not in (200, 503):
        raise SystemExit(f"{path}: {answer.status}")
    return answer.status == 200


def user(host, number):
    chance = random.Random(number)
    connection = http.client.HTTPConnection(host)
    while True:
        time.sleep(chance.uniform(1, 3))
        get(connection, chance.choice(PAGES))


def measure(host, seconds):
    connection = http.client.HTTPConnection(host)
    began = time.monotonic()
    took, refused = [], 0
    for number in range(seconds * 100):
        due = began + number / 100
        time.sleep(max(0, due - time.monotonic()))
        sent = time.monotonic()
        refused += not get(connection, LISTS[number % len(LISTS)])
        took.append((time.monotonic() - sent) * 1000)
    took.sort()
    return took[len(took) // 2], took[len(took) * 99 // 100], refused


def main():
    host = urllib.parse.urlsplit(sys.argv[1]).netloc
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    for path in LISTS + PAGES:
        get(http.client.HTTPConnection(host), path)
    ratios = []
    for number in range(rounds):
        parts = {}
        for users in (0, 20) if number % 2 == 0 else (20, 0):
            people = [multiprocessing.Process(target=user, args=(host, i), daemon=True) for i in range(users)]
            for person in people:
                person.start()
            time.sleep(2)
            parts[users] = measure(host, seconds)
            for person in people:
                person.terminate()
                person.join()
        ratios.append(parts[20][1] / parts[0][1])
        print(f"without: p50 {parts[0][0]:.2f} p99 {parts[0][1]:.2f} ms   beside 20 users: "
              f"p50 {parts[20][0]:.2f} p99 {parts[20][1]:.2f} ms   p99 {ratios[-1]:.2f} times   "
              f"refused {parts[0][2]} and {parts[20][2]}", flush=True)
    print(f"median of {rounds}: {statistics.median(ratios):.2f} times")


if __name__ == "__main__":
    main()
