"""Ends a program that has used pyarrow.

Its threads may still hold objects of Python when all is read. An interpreter that ends as usual then aborts or hangs:
issues 34314 and 50482 of apache/arrow.
"""

import os
import sys


def leave(status=0):
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
