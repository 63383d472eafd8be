#!/bin/sh
# compare.sh BASE [PATTERN [ROUNDS]]: micro benchmarks of BASE and of the working tree, in turn, through benchstat.
# One side after the other would measure the machine's mood: the same code differed by a tenth that way.
set -eu
base=${1:?usage: compare.sh BASE [PATTERN [ROUNDS]]}
pattern=${2:-.}
rounds=${3:-10}
packages="./snapshot ./index ./api/... ./loader"
go=${GO:-go}

dir=$(mktemp -d)
trap 'git worktree remove --force "$dir/base" 2>/dev/null || true; rm -rf "$dir"' EXIT
git worktree add --quiet --detach "$dir/base" "$base"

build() { # TREE OUT: the test binaries of the packages that have benchmarks
	mkdir -p "$2"
	(cd "$1" && for p in $($go list $packages); do
		$go test -c -o "$2/$(echo "$p" | tr / _).test" "$p" >/dev/null
		echo "$p $($go list -f '{{.Dir}}' "$p")" >>"$2/packages"
	done)
}
build "$dir/base" "$dir/bin-base"
build . "$dir/bin-new"

run() { # BIN OUT: one round
	while read -r p folder; do
		binary="$1/$(echo "$p" | tr / _).test"
		[ -x "$binary" ] || continue
		echo "pkg: $p" >>"$2"
		(cd "$folder" && "$binary" -test.run '^$' -test.bench "$pattern" -test.benchmem -test.benchtime 200ms) >>"$2"
	done <"$1/packages"
}
round=1
while [ "$round" -le "$rounds" ]; do
	if [ $((round % 2)) -eq 1 ]; then
		run "$dir/bin-base" "$dir/base.txt"
		run "$dir/bin-new" "$dir/new.txt"
	else
		run "$dir/bin-new" "$dir/new.txt"
		run "$dir/bin-base" "$dir/base.txt"
	fi
	round=$((round + 1))
done
mkdir -p bench/results
stamp=bench/results/$(date -u +%Y-%m-%d)-$(git rev-parse --short "$base")-$(git describe --always --dirty)
cp "$dir/base.txt" "$stamp-base.txt"
cp "$dir/new.txt" "$stamp-new.txt"
$go tool benchstat "base=$dir/base.txt" "new=$dir/new.txt"
