#!/bin/sh
# Checks the files of a release in this directory: verify.sh hdqs-release.pub
# Get the public key from another place than the files. Needs openssl 3 and sha256sum.
set -eu
openssl pkeyutl -verify -pubin -inkey "$1" -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
sha256sum --check --ignore-missing --strict SHA256SUMS
