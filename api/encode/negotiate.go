package encode

import "strings"

// Coding is the content coding of a body.
type Coding uint8

// The codings, in ascending order of preference: of two with the same weight, the later one is
// served. Gzip comes after zstd as its rows are copied from what was compressed before.
const (
	Identity Coding = iota
	Zstd
	Gzip
	codings
)

// String returns the coding's name in Content-Encoding, and in logs and metrics, where identity has
// a name too.
func (c Coding) String() string {
	switch c {
	case Gzip:
		return "gzip"
	case Zstd:
		return "zstd"
	}
	return "identity"
}

// A weight is a q-value in thousandths. unset marks a coding that no member named.
const (
	weightOne = 1000
	unset     = -1
)

// Negotiate chooses the coding of a body by Accept-Encoding (RFC 9110 section 12.5.3); the values
// of repeated fields are joined by commas. The greatest q-value wins; ties go to gzip, then zstd,
// then identity. If identity is not named it is the last choice, so "gzip;q=0.1" selects gzip. "*"
// stands for all codings that are not named. A coding named twice has the lower of its weights, and
// a malformed member is ignored: in doubt the client gets what it can certainly read. ok is false
// if identity is refused and no other coding is accepted, which is the only case of a 406.
func Negotiate(acceptEncoding string) (c Coding, ok bool) {
	w := weights(acceptEncoding)
	best, bestWeight := Identity, w[Identity]
	for c := Zstd; c < codings; c++ {
		if w[c] > 0 && w[c] >= bestWeight {
			best, bestWeight = c, w[c]
		}
	}
	return best, best != Identity || w[Identity] != 0
}

// RefusesIdentity reports whether a client does not accept a plain body, so that even a short one
// must be compressed.
func RefusesIdentity(acceptEncoding string) bool {
	// It takes a weight of 0 to refuse, and weights follow a semicolon.
	return strings.IndexByte(acceptEncoding, ';') >= 0 && weights(acceptEncoding)[Identity] == 0
}

// weights returns the weight of each coding in thousandths: 0 if it is refused, and unset if no
// member refers to it.
func weights(field string) (w [codings]int) {
	for c := range w {
		w[c] = unset
	}
	rest := unset
	for len(field) > 0 {
		var member string
		member, field, _ = strings.Cut(field, ",")
		name, parameters, _ := strings.Cut(member, ";")
		q, ok := weight(parameters)
		if !ok {
			continue
		}
		switch name = trim(name); {
		case equalFold(name, "gzip"), equalFold(name, "x-gzip"):
			lower(&w[Gzip], q)
		case equalFold(name, "zstd"):
			lower(&w[Zstd], q)
		case equalFold(name, "identity"):
			lower(&w[Identity], q)
		case name == "*":
			lower(&rest, q)
		}
	}
	for c := range w {
		if w[c] == unset {
			w[c] = rest
		}
	}
	return w
}

// weight parses the parameters of a member: none, or "q=" and a number from 0 to 1 with at most
// three decimals.
func weight(parameters string) (thousandths int, ok bool) {
	parameters = trim(parameters)
	if parameters == "" {
		return weightOne, true
	}
	key, value, _ := strings.Cut(parameters, "=")
	value = trim(value)
	if key = trim(key); !equalFold(key, "q") || value == "" || len(value) > len("0.000") {
		return 0, false
	}
	if value[0] != '0' && value[0] != '1' || len(value) > 1 && value[1] != '.' {
		return 0, false
	}
	thousandths = int(value[0]-'0') * weightOne
	for i, unit := 2, 100; i < len(value); i, unit = i+1, unit/10 {
		if value[i] < '0' || value[i] > '9' {
			return 0, false
		}
		thousandths += int(value[i]-'0') * unit
	}
	return thousandths, thousandths <= weightOne
}

func lower(w *int, q int) {
	if *w == unset || q < *w {
		*w = q
	}
}

func trim(s string) string { return strings.Trim(s, " \t") }

// equalFold compares s with a lower-case ASCII word, ignoring case. With the length compared, no
// other letter that folds to an ASCII one is the same.
func equalFold(s, lower string) bool { return len(s) == len(lower) && strings.EqualFold(s, lower) }
