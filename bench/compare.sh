#!/bin/sh
# compare.sh BASE [PATTERN [ROUNDS]]: micro benchmarks of BASE and of the working tree, in turn, through benchstat.
#
# Each round runs both sides, and the order changes from round to round: one side after the other would also measure
# how busy the machine is. Identical code differed by a tenth that way. Then every benchmark is judged. It fails, and
# the exit code is 1, if its median time is worse by more than BOUND per cent (default 3) and the difference is
# significant both in the rounds that began with BASE and in those that began with the working tree. One that is worse
# by as much over all rounds, but not in both orders, is listed as unclear: repeat those with more rounds. A benchmark
# that reports its processor time (cpu-ns/op) is judged by that, which other programs change much less.
#
# Benchmarks are matched by function. One that moved to another package is compared with its former self. One that only
# one side has is listed and not judged.
#
# FILES names test files of the working tree that BASE gets too, so that both sides run the same benchmark where the
# one of BASE measured something else. Functions that BASE has under the same names are renamed.
set -eu
base=${1:?usage: compare.sh BASE [PATTERN [ROUNDS]]}
pattern=${2:-.}
rounds=${3:-10}
bound=${BOUND:-3}
go=${GO:-go}

dir=$(mktemp -d)
trap 'git worktree remove --force "$dir/tree" 2>/dev/null || true; rm -rf "$dir"' EXIT
git worktree add --quiet --detach "$dir/tree" "$base"
for file in ${FILES:-}; do
	sed -nE 's/^func (Benchmark[A-Za-z0-9_]*)\(.*/\1/p' "$file" | while read -r name; do
		sed -i "s/^func $name(/func former$name(/" "$dir/tree/$(dirname "$file")"/*_test.go
	done
	cp "$file" "$dir/tree/$file"
done

build() { # TREE SIDE: SIDE.functions lists "package function" of all benchmarks, SIDE.packages "binary folder package"
	(
		cd "$1"
		grep -rn --include='*_test.go' '^func Benchmark' . | grep -v /testdata/ |
			sed -E 's|^\./(.*)/[^/]*:func (Benchmark[A-Za-z0-9_]*).*|\1 \2|' | sort -u >"$dir/$2.functions"
		cut -d' ' -f1 "$dir/$2.functions" | uniq | while read -r p; do
			binary="$dir/$2-$(echo "$p" | tr / _).test"
			$go test -c -o "$binary" "./$p" >/dev/null
			echo "$binary $PWD/$p $p"
		done >"$dir/$2.packages"
	)
}
build "$dir/tree" base
build . new

run() { # SIDE ORDER: one round, appended to SIDE.ORDER
	while read -r binary folder p; do
		echo "pkg: $p"
		(cd "$folder" && "$binary" -test.run '^$' -test.bench "$pattern" -test.benchmem -test.benchtime 200ms)
	done <"$dir/$1.packages" | grep -v '^pkg: hdqs' >>"$dir/$1.$2"
}
round=1
while [ "$round" -le "$rounds" ]; do
	if [ $((round % 2)) -eq 1 ]; then
		run base base-first
		run new base-first
	else
		run new new-first
		run base new-first
	fi
	round=$((round + 1))
done

# A new package's benchmark gets the package that has the same function in BASE and lacks it now, if there is one only.
moved() { # ORDER
	awk -v base="$dir/base.functions" -v new="$dir/new.functions" '
		BEGIN {
			while ((getline <base) > 0) { had[$1 " " $2] = 1 }
			while ((getline <new) > 0) { has[$1 " " $2] = 1 }
			for (k in had) if (!(k in has)) { split(k, f, " "); from[f[2]] = f[1]; gone[f[2]]++ }
		}
		/^pkg: / { p = $2; next }
		/^Benchmark/ {
			name = $1; sub(/[\/-].*/, "", name)
			q = p
			if (!((p " " name) in had) && gone[name] == 1) q = from[name]
			print "pkg: " q
		}
		{ print }
	' "$dir/new.$1" >"$dir/new.$1.txt"
	awk '/^pkg: / { p = $0; next } /^Benchmark/ { print p } { print }' "$dir/base.$1" >"$dir/base.$1.txt"
}
for order in base-first new-first; do
	touch "$dir/base.$order" "$dir/new.$order"
	moved $order
done
for side in base new; do
	cat "$dir/$side.base-first.txt" "$dir/$side.new-first.txt" >"$dir/$side.txt"
done
mkdir -p tmp/compare
stamp=tmp/compare/$(git rev-parse --short "$base")-$(git describe --always --dirty)
cp "$dir/base.txt" "$stamp-base.txt"
cp "$dir/new.txt" "$stamp-new.txt"
benchstat() { $go tool benchstat "$@"; }
benchstat "base=$dir/base.txt" "new=$dir/new.txt"

# The shortest sample in which benchstat can find a difference significant is four rounds of each order.
if [ "$rounds" -lt 8 ]; then
	echo "not judged: $rounds rounds are too few, 8 or more are needed"
	exit 0
fi
for order in base-first new-first all; do
	suffix=.$order.txt
	[ $order = all ] && suffix=.txt
	benchstat -format csv "base=$dir/base$suffix" "new=$dir/new$suffix" 2>/dev/null >"$dir/$order.csv"
done
# Columns of the tables in seconds: name, median and spread of base, median and spread of new, difference, p. The first
# pass finds the benchmarks that report processor time, which are judged by it.
awk -F, -v bound="$bound" '
	FNR == 1 { file++; p = "" }
	/^pkg: / { p = substr($0, 6) }
	$1 == "" { unit = $2; next } # a header: the second of two names the unit
	$1 == "geomean" { next }
	file == 1 { if (unit == "cpu-sec/op") cpu[p " " $1]; next }
	unit != "cpu-sec/op" && (unit != "sec/op" || (p " " $1) in cpu) { next }
	NF >= 4 && $2 != "" && $4 != "" {
		name = p " " $1
		if ($6 ~ /^\+/) significant[name]++
		if (file < 4) next
		judged++
		by = 100 * ($4 / $2 - 1)
		if (by <= bound || $6 !~ /^\+/) next
		if (significant[name] == 3) { word = "worse"; bad++ } else word = "unclear"
		printf "%s: %s by %.1f %%\n", word, name, by
		next
	}
	file == 4 { print "not compared, only one side has it: " p " " $1 }
	END {
		printf "%d benchmarks judged, %d worse by more than %g %% in both orders\n", judged, bad, bound
		exit bad > 0 || judged == 0
	}
' "$dir/all.csv" "$dir/base-first.csv" "$dir/new-first.csv" "$dir/all.csv"
