"""Reads points by URL with GDAL, in parts: points.py < PLAN.

A line of the plan is a URL and a field, with a tab between. For each, this prints the features, those with a place, and the sum of
the field.
"""

import sys

import pyogrio.raw

for line in sys.stdin:
    url, field = line.rstrip("\n").split("\t")
    meta, _, geometry, columns = pyogrio.raw.read("/vsicurl/" + url, columns=[field])
    print(len(geometry), sum(g is not None for g in geometry), f"{columns[0].sum():.3f}", sep="\t")
