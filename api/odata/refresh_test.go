package odata_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/odata"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// largeList is a list of few columns.
const largeList = "/api/v2/metadata/sector"

// largeName is the name that a row of a state has.
func largeName(of string, row int) string { return of + " " + strconv.Itoa(row%997) }

// largeSnapshots are two snapshots of a table with many rows, all of which differ.
func largeSnapshots(t *testing.T, rows int) (first, second *store.Snapshot) {
	t.Helper()
	st, err := store.Open(t.TempDir())
	testkit.Must(t, err)
	e := apitest.Plan(largeList).Endpoint
	for _, of := range []string{"first", "second"} {
		table := apitest.SampleTable(e, 997, rand.New(rand.NewPCG(1, 2)))
		for i, row := range table.Rows {
			row["name"] = largeName(of, i)
		}
		once := table.Rows
		table.Rows = make([]map[string]any, 0, rows)
		for i := range rows { // rows of one table share their values
			table.Rows = append(table.Rows, once[i%len(once)])
		}
		apitest.PutSnapshot(t, st, of, apitest.SampleTime, []*apitest.Table{table})
		rows -= 1234
	}
	first, err = st.Snapshots.Open("first")
	testkit.Must(t, err)
	second, err = st.Snapshots.OpenAfter("second", first)
	testkit.Must(t, err)
	return first, second
}

// refresh reads all pages of the large list, as a client does. It calls read after each page, and
// returns the state that all rows are of, and how many there were before the end or a 410.
func refresh(s *api.Server, options string, pageSize int, read func(pages int)) (of string, rows int, err error) {
	size := apitest.Fields("Prefer", "odata.maxpagesize="+strconv.Itoa(pageSize))
	version := ""
	for link, pages := odata.Root+"sector"+options, 1; link != ""; pages++ {
		a := s.Answer("GET", strings.TrimPrefix(link, apitest.ODataBase), size)
		if a.Status == 410 && pages > 1 {
			return of, rows, errGone
		}
		var page struct {
			Next  string `json:"@odata.nextLink"`
			Value []struct {
				Key  string `json:"row_key"`
				Name string
			}
		}
		if err := json.Unmarshal(a.Body, &page); a.Status != 200 || err != nil {
			return of, rows, fmt.Errorf("page %d: %d %v %.300s", pages, a.Status, err, a.Body)
		}
		for _, row := range page.Value {
			at := strings.LastIndexByte(row.Key, '-')
			if of == "" {
				of, _, _ = strings.Cut(row.Name, " ")
				version = row.Key[:at]
			}
			n, err := strconv.Atoi(row.Key[at+1:])
			if row.Name != largeName(of, rows) || row.Key[:at] != version || n != rows {
				return of, rows, fmt.Errorf("page %d: row %d of %s %s is %v %v", pages, rows, of, version, row, err)
			}
			rows++
		}
		if len(page.Value) > pageSize || page.Next != "" && len(page.Value) < pageSize {
			return of, rows, fmt.Errorf("page %d has %d rows", pages, len(page.Value))
		}
		link = page.Next
		read(pages)
	}
	return of, rows, nil
}

var errGone = fmt.Errorf("410")

// TestODataRefresh: a refresh of many rows across a swap has the rows of one state, each once and
// in order, or ends with 410. It has never rows of two.
func TestODataRefresh(t *testing.T) {
	t.Parallel()
	rows, pageSize := 30_000, 500
	if testkit.Long() {
		rows, pageSize = 1_000_000, contract.MaxLimit
	}
	for _, kept := range []time.Duration{testkit.Patience, -1} {
		first, second := largeSnapshots(t, rows)
		s := apitest.Serve(t, state.Options{BaseURL: apitest.ODataBase, KeepPrevious: kept, CacheBytes: -1}, first)
		const readers = 4
		var reading sync.WaitGroup
		half, swapped := make(chan struct{}, readers), make(chan struct{})
		for i := range readers {
			isWaiting := i%2 == 0 // for the swap, after half of the pages; the others race it
			reading.Go(func() {
				options := []string{"", "?$select=row_key,name", "?$count=true", "?$filter=true"}[i]
				of, n, err := refresh(s, options, pageSize, func(pages int) {
					if pages == rows/pageSize/2 {
						half <- struct{}{}
						if isWaiting {
							<-swapped
						}
					}
				})
				if isWhole := n == map[string]int{"first": rows, "second": rows - 1234}[of]; err == nil && !isWhole {
					t.Errorf("refresh %d: %d rows of %s", i, n, of)
				}
				wantGone := isWaiting && kept < 0
				if isGone := err == errGone; err != nil && (!isGone || kept > 0) || wantGone && !isGone {
					t.Errorf("refresh %d, kept %v: %v after %d rows of %s", i, kept, err, n, of)
				}
				if isWaiting && of != "first" {
					t.Errorf("refresh %d began in %s", i, of)
				}
			})
		}
		for range readers / 2 {
			<-half
		}
		apitest.Swap(t, s, state.Release{Snapshot: second, PublishedAt: apitest.PublishedTime})
		close(swapped)
		if of, n, err := refresh(s, "", pageSize, func(int) {}); err != nil || of != "second" || n != rows-1234 {
			t.Errorf("after the swap: %d rows of %s, %v", n, of, err)
		}
		reading.Wait()
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }
