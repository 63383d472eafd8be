"""Reads layers of OGC API - Features with GDAL: layers.py < PLAN.

A line of the plan is the address of the service and a collection, with a tab between. For each, this prints how many of the first ten
features have a geometry, which is what QGIS takes the type of the layer from, then all features, those with a geometry, the types of the
properties, and the box of the layer.
"""

import sys

import pyogrio
import pyogrio.raw

for line in sys.stdin:
    service, layer = line.rstrip("\n").split("\t")
    source = "OAPIF:" + service
    _, _, first, _ = pyogrio.raw.read(source, layer=layer, max_features=10)
    meta, _, geometry, _ = pyogrio.raw.read(source, layer=layer)
    info = pyogrio.read_info(source, layer=layer, force_total_bounds=True)
    types = ",".join(f"{name}:{kind}" for name, kind in zip(info["fields"], info["ogr_types"]))
    box = " ".join(f"{x:g}" for x in info["total_bounds"])
    print(layer, sum(g is not None for g in first), len(geometry), sum(g is not None for g in geometry), types, box, sep="\t")
