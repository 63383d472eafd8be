#!/bin/sh
# Puts moto, an S3 server for tests, where `make bucket` looks for it.
set -eu
cache=.cache/moto
version=5.2.5

if ! "$cache/bin/pip" show moto 2>/dev/null | grep -qx "Version: $version"; then
	python3 -m venv "$cache"
	"$cache/bin/pip" install -q -c .ci/constraints.txt "moto[server]==$version"
fi
