package contract

import (
	"errors"
	"strings"
	"testing"
)

// TestSince reads ids of snapshots, and checks that they are in the canonical query.
func TestSince(t *testing.T) {
	for i := range Endpoints {
		if e := &Endpoints[i]; len(e.Key) == 0 || len(e.Order) == 0 {
			t.Errorf("%s: key %q, order %q; changes need both", e.Name(), e.Key, e.Order)
		}
		p := NewPlan(&Endpoints[i], Changes)
		for query, want := range map[string]string{
			"since=20261121T010200Z-af55ffd1ca9d":  "since=20261121T010200Z-af55ffd1ca9d",
			"offset=3&since=a&limit=7&since=b.c_d": "limit=7&offset=3&since=b.c_d",
			"since=%61&limit=10000":                "since=a",
		} {
			if got, err := sinceQuery(p, query); err != nil || got != want {
				t.Errorf("%s: %s: %q, %v, want %q", p.Name(), query, got, err, want)
			}
			checkCanonical(t, p, query)
		}
		for query, want := range map[string]string{
			"":                                  "missing",
			"limit=5":                           "missing",
			"since":                             "string_pattern_mismatch",
			"since=-a":                          "string_pattern_mismatch",
			"since=a%20b":                       "string_pattern_mismatch",
			"since=%C3%A9":                      "string_pattern_mismatch",
			"since=" + strings.Repeat("a", 129): "string_too_long",
		} {
			_, err := sinceQuery(p, query)
			fault, ok := errors.AsType[*Invalid](err)
			if !ok || len(fault.Issues) != 1 || fault.Issues[0].Type != want || fault.Issues[0].Param != SinceParam {
				t.Errorf("%s: %s: %v, want %s", p.Name(), query, err, want)
			}
		}
	}
}

// TestSinceElsewhere: only changes have since.
func TestSinceElsewhere(t *testing.T) {
	for _, k := range []Kind{Rows, Aggregate} {
		var r Request
		r.Scan(NewPlan(&Endpoints[0], k), []byte("since=a"))
		if err := r.Parse(); err != nil || r.Since != "" || !r.HasUnknown() {
			t.Errorf("%s: since is %q, error %v", k, r.Since, err)
		}
	}
}

func sinceQuery(p *Plan, query string) (string, error) {
	var r Request
	r.Scan(p, []byte(query))
	if err := r.Parse(); err != nil {
		return "", err
	}
	return string(r.AppendCanonical(nil)), nil
}
