package apitest_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

func TestMain(m *testing.M) { apitest.Main(m) }

// TestSampleTables: tables have each value of each enumeration, nulls where they may be, and the
// same rows each time.
func TestSampleTables(t *testing.T) {
	t.Parallel()
	tables, again := apitest.SampleTables(t, 200), apitest.SampleTables(t, 200)
	if len(tables) != len(contract.Endpoints) {
		t.Fatalf("%d tables", len(tables))
	}
	for i, table := range tables {
		for _, c := range table.Columns {
			seen := map[any]bool{}
			for k, row := range table.Rows {
				seen[row[c.Name]] = true
				if row[c.Name] != again[i].Rows[k][c.Name] {
					t.Errorf("%s, row %d: %s differs", table.Endpoint.Path, k, c.Name)
				}
			}
			isMissing := func(v string) bool { return !seen[v] }
			if c.Kind == snapshot.Enum && slices.ContainsFunc(c.Enum.Values, isMissing) || seen[nil] != c.Nullable {
				t.Errorf("%s: %s has %d values, null %v", table.Endpoint.Path, c.Name, len(seen), seen[nil])
			}
		}
	}
}

// TestConn: requests of one connection are answered in turn, and a request without an end meets the
// read timeout at once.
func TestConn(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	conn := apitest.Dial(t, apitest.Listen(t, s))
	for range 2 {
		if status := conn.Get(apitest.Target); status != 200 {
			t.Errorf("status %d", status)
		}
	}
	if answer, closed := conn.Raw(t, "GET", "GET /docs HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); !closed {
		t.Errorf("not closed after %.40q", answer)
	}
	if status := conn.Get(apitest.Target); status != 0 {
		t.Errorf("status %d on a closed connection", status)
	}
	half, err := net.Dial("tcp", apitest.ListenStalled(t, s))
	testkit.Must(t, err)
	defer half.Close()
	apitest.Send(half, "GET /docs HTTP/1.1\r\nHost: a")
	if answer, err := io.ReadAll(half); err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 408 ")) {
		t.Errorf("half a request: %.40q, %v", answer, err)
	}
}

// TestChangedTables: some rows are gone, some new, and some have another value.
func TestChangedTables(t *testing.T) {
	t.Parallel()
	before, after := apitest.ChangedTables(t, rand.New(rand.NewPCG(1, 1)), 400, 8)
	for i, table := range before {
		kept, other := 0, 0
		for _, row := range after[i].Rows {
			if slices.ContainsFunc(table.Rows, func(old map[string]any) bool { return equal(old, row) }) {
				kept++
			} else {
				other++
			}
		}
		if kept < 200 || kept == len(table.Rows) || other == 0 {
			t.Errorf("%s: %d rows of %d are kept, %d others", table.Endpoint.Path, kept, len(table.Rows), other)
		}
	}
}

func equal(a, b map[string]any) bool {
	for name := range a {
		if a[name] != b[name] {
			return false
		}
	}
	return true
}
