#!/bin/sh
# Puts Python's HTTP clients where `make clients` looks for them.
set -eu
cache=.cache/clients
packages="requests==2.34.2 httpx==0.28.1 zstandard==0.25.0"

if [ "$(cat "$cache/packages" 2>/dev/null)" != "$packages" ]; then
	python3 -m venv --clear "$cache"
	"$cache/bin/pip" install -q -c .ci/constraints.txt $packages
	echo "$packages" >"$cache/packages"
fi
