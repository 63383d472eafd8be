#!/bin/sh
# A file of an archive.
true
