"""What a number of requests per second takes: hit ratios of caches, replicas, bytes of a publication.

    python3 bench/scaling.py [--rate 1000000] [--caches 50] [--per-core 4700] [--snapshot 143e6] [--delta 0.0039]

A cache with a time to live T, asked for one thing at random l times per second, sends 1 of 1 + l * T
requests on: the first one, then it answers all others for T seconds. So many reach the origin for
each thing that is asked for; things are asked for by Zipf's law with exponent S. A publication empties
the caches, so that T is the shorter one of the time to live and half the time between publications. The
formula is checked against a simulation of one cache, request by request, whose error is printed.

--rate is of all clients, --caches how many caches they are spread over (places of a CDN; a shield before
the origin makes it one), --per-core what one core answers per second, from docs/performance.md;
replicas are of two cores, used up to a half. --snapshot is bytes and --delta the part of them that a
publication moves to each replica.
"""
import argparse
import math
import random


def weights(things, s):
    return [1 / (i + 1) ** s for i in range(things)]


def misses(rate, caches, ttl, things, s):
    """Requests per second that reach the origin. Things are taken in steps that grow, with one
    weight for all of a step: the error is below one in a thousand."""
    steps, i = [], 1
    while i <= things:
        to = min(things, i + i // 200)
        steps.append((to - i + 1, ((i + to) / 2) ** -s))
        i = to + 1
    total = sum(n * w for n, w in steps)
    sent = 0.0
    for n, w in steps:
        each = rate / caches * w / total
        sent += n * each / (1 + each * ttl)
    return sent * caches


def simulated(rate, ttl, things, s, requests):
    """The same for one cache, request by request."""
    r = random.Random(1)
    asked = r.choices(range(things), weights(things, s), k=requests)
    until, now, sent = [0.0] * things, 0.0, 0
    for thing in asked:
        now += r.expovariate(rate)
        if until[thing] <= now:
            sent, until[thing] = sent + 1, now + ttl
    return sent / now


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rate", type=float, default=1e6)
    p.add_argument("--caches", type=int, default=50)
    p.add_argument("--per-core", type=float, default=4700)
    p.add_argument("--snapshot", type=float, default=143e6)
    p.add_argument("--delta", type=float, default=0.0039)
    o = p.parse_args()
    worst = 0.0
    for things, s, ttl in ((1000, 0.8, 3), (1000, 1.0, 3), (10_000, 1.0, 3)):
        want, got = misses(1000, 1, ttl, things, s), simulated(1000, ttl, things, s, 300_000)
        worst = max(worst, abs(got / want - 1))
    print(f"Formula and simulation of one cache differ by at most {100 * worst:.1f} %.\n")
    print("| different requests | exponent | kept for | publication every | caches | hits | to the origin, per s | replicas |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for things in (100_000, 10_000_000):
        for s in (0.8, 1.0):
            for ttl, cadence in ((60, 86_400), (3600, 86_400), (3600, 600), (86_400, 86_400)):
                for caches in (o.caches, 1):
                    sent = misses(o.rate, caches, min(ttl, cadence / 2), things, s)
                    replicas = max(2, math.ceil(sent / (2 * o.per_core * 0.5)))
                    print(f"| {things:,} | {s} | {ttl:,} s | {cadence:,} s | {caches} | {100 * (1 - sent / o.rate):.2f} % "
                          f"| {sent:,.0f} | {replicas} |")
    print("\n| replicas | bytes of a publication, whole | with deltas of 1 % of rows |")
    print("|--:|--:|--:|")
    for n in (2, 8, 100):
        print(f"| {n} | {n * o.snapshot / 1e6:,.0f} MB | {n * o.snapshot * o.delta / 1e6:,.1f} MB |")


main()
