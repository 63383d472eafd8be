//go:build !race

package api

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// changesServer serves a snapshot "after", and holds "before".
func changesServer(t *testing.T, before, after []*testTable) *Server {
	t.Helper()
	s := serverOf(t, state.Options{Logger: slog.New(slog.DiscardHandler), KeepPrevious: time.Hour},
		storeSnapshot(t, "before", sampleTime, before))
	if err := s.Swap(state.Release{Snapshot: storeSnapshot(t, "after", sampleTime, after)}); err != nil {
		t.Fatal(err)
	}
	return s
}

// passingRecord is a row that passes a filter: its key, its values as text, its record.
type passingRecord struct {
	key, values string
	record      map[string]json.RawMessage
}

// passingRecords returns the rows of a snapshot that pass a query.
func passingRecords(
	t *testing.T, s *Server, table *testTable, to *contract.Endpoint, path, query, id string,
) []passingRecord {
	t.Helper()
	records := listOf(t, s, path, query+"&snapshot="+id)
	v := s.AcquirePinned(id)
	defer v.Release(s.Log)
	var sc list.Scratch
	sc.Request.Scan(contract.NewPlan(to, contract.Rows), []byte(strings.TrimPrefix(query, "&")))
	if err := sc.Request.Parse(); err != nil {
		t.Fatal(err)
	}
	if err := sc.Find(v.Bound.Lists[to.Contract().Path]); err != nil {
		t.Fatal(err)
	}
	var all []passingRecord
	for _, rows := range sc.Page.Ranges {
		for row := rows.From; row < rows.To; row++ {
			p := passingRecord{record: records[len(all)]}
			for _, name := range table.endpoint.Key {
				p.key += fmt.Sprintf("%v|", table.rows[row][name])
			}
			for _, f := range to.Fields {
				p.values += string(p.record[f.Name]) + "|"
			}
			all = append(all, p)
		}
	}
	return all
}

// plainChanges compares two lists by plain code. The result is not sorted.
func plainChanges(to *contract.Endpoint, before, after []passingRecord) (all []string, totals map[string]int) {
	totals = map[string]int{}
	add := func(kind string, p passingRecord, was map[string]json.RawMessage) {
		record := maps.Clone(p.record)
		record["change"], record["was"] = json.RawMessage(strconv.Quote(kind)), json.RawMessage("null")
		if was != nil {
			text, _ := json.Marshal(was)
			record["was"] = text
		}
		all = append(all, sortedJSON(record))
		totals[kind]++
	}
	for _, now := range slices.Clone(after) {
		same := func(p passingRecord) bool { return p.key == now.key && p.values == now.values }
		if at := slices.IndexFunc(before, same); at >= 0 {
			before = slices.Delete(slices.Clone(before), at, at+1)
			at = slices.IndexFunc(after, same)
			after = slices.Delete(slices.Clone(after), at, at+1)
		}
	}
	for _, now := range after {
		at := slices.IndexFunc(before, func(p passingRecord) bool { return p.key == now.key })
		if at < 0 {
			add("added", now, nil)
			continue
		}
		was := map[string]json.RawMessage{}
		for _, f := range to.Fields {
			if old := before[at].record[f.Name]; string(old) != string(now.record[f.Name]) {
				was[f.Name] = old
			}
		}
		add("changed", now, was)
		before = slices.Delete(slices.Clone(before), at, at+1)
	}
	for _, old := range before {
		add("removed", old, nil)
	}
	return all, totals
}

// sortedJSON is a record with its fields sorted by name.
func sortedJSON(record map[string]json.RawMessage) string {
	text, err := json.Marshal(record)
	if err != nil {
		return err.Error()
	}
	var any map[string]any // also sorts the names in was
	if err := json.Unmarshal(text, &any); err != nil {
		return err.Error()
	}
	text, _ = json.Marshal(any)
	return string(text)
}

// TestChangesAgainstLists compares random requests on all endpoints, in both sets of names, with
// plain comparisons of the two lists.
func TestChangesAgainstLists(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 7))
	before, after := changedTables(t, r, 120, 6)
	s := changesServer(t, before, after)
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	found := map[string]int{}
	for _, m := range s.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		for i := range endpoints {
			e, path := &endpoints[i], m.Prefix+endpoints[i].Path
			records := listOf(t, s, path, "")
			for range rounds {
				query := ""
				for _, f := range randomFilters(r, e, records[r.IntN(len(records))]) {
					query += "&" + f.text
				}
				if e.Series() != nil && r.IntN(4) == 0 {
					query += "&latest=true"
				}
				old := passingRecords(t, s, before[i], e, path, query, "before")
				now := passingRecords(t, s, after[i], e, path, query, "after")
				want, totals := plainChanges(e, old, now)
				target := path + "/changes?app_identifier=" + goodIdentifier + "&since=before" + query
				got := s.Answer("GET", target, nil)
				var have []string
				for _, record := range answerRecords(t, target, got) {
					have = append(have, sortedJSON(record))
				}
				whole := slices.Clone(have)
				slices.Sort(want)
				slices.Sort(have)
				if !slices.Equal(have, want) {
					t.Fatalf("seed %d: %s:\n%s\nwant\n%s",
						seed, target, strings.Join(have, "\n"), strings.Join(want, "\n"))
				}
				header := fmt.Sprintf("added=%d, removed=%d, changed=%d",
					totals["added"], totals["removed"], totals["changed"])
				if text, _ := got.field(contract.HeaderChanges); text != header {
					t.Errorf("%s: %s: %s, want %s", target, contract.HeaderChanges, text, header)
				}
				if n, _ := got.field(contract.HeaderTotal); n != strconv.Itoa(len(want)) {
					t.Errorf("%s: %s: %s, want %d", target, contract.HeaderTotal, n, len(want))
				}
				checkChangePage(t, s, target, whole, r)
				checkChangeCSV(t, s, target, e, got)
				for kind, n := range totals {
					found[kind] += n
				}
			}
		}
	}
	for _, kind := range []string{"added", "removed", "changed"} {
		if found[kind] < 100 {
			t.Errorf("only %d rows %s", found[kind], kind)
		}
	}
}

// answerRecords returns the records of an answer.
func answerRecords(t *testing.T, target string, got Answer) []map[string]json.RawMessage {
	t.Helper()
	var answer struct {
		Data []map[string]json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(got.Body, &answer); err != nil || got.Status != 200 || answer.Data == nil {
		t.Fatalf("%s: %d %v %.300s", target, got.Status, err, got.Body)
	}
	return answer.Data
}

// checkChangePage compares a page with the whole answer.
func checkChangePage(t *testing.T, s *Server, target string, whole []string, r *rand.Rand) {
	t.Helper()
	limit, offset := r.IntN(20), r.IntN(len(whole)+3)
	page := fmt.Sprintf("%s&limit=%d&offset=%d", target, limit, offset)
	got := s.Answer("GET", page, nil)
	from := min(offset, len(whole))
	want := whole[from:min(from+limit, len(whole))]
	var have []string
	for _, record := range answerRecords(t, page, got) {
		have = append(have, sortedJSON(record))
	}
	if !slices.Equal(have, want) {
		t.Errorf("%s: %q, want %q", page, have, want)
	}
	if n, _ := got.field(contract.HeaderTotal); n != strconv.Itoa(len(whole)) {
		t.Errorf("%s: %s of %d", page, n, len(whole))
	}
}

// checkChangeCSV compares the answer as CSV with the one as JSON.
func checkChangeCSV(t *testing.T, s *Server, target string, e *contract.Endpoint, whole Answer) {
	t.Helper()
	got := s.Answer("GET", target+"&output_format=csv", nil)
	lines, err := csv.NewReader(strings.NewReader(string(got.Body))).ReadAll()
	if err != nil || got.Status != 200 {
		t.Fatalf("%s: %d %v", target, got.Status, err)
	}
	records := answerRecords(t, target, whole)
	if len(records) == 0 && len(lines) == 0 && e.Names() == contract.HAPINames {
		return
	}
	names := append([]string{"change"}, contract.FieldNames(e.CSVFields())...)
	if names = append(names, "was"); !slices.Equal(lines[0], names) {
		t.Errorf("%s: CSV header %q, want %q", target, lines[0], names)
	}
	if len(lines) != len(records)+1 {
		t.Fatalf("%s: %d lines of CSV, %d records", target, len(lines), len(records))
	}
	for i, record := range records {
		line := lines[i+1]
		was := string(record["was"])
		if was == "null" {
			was = ""
		}
		if line[0] != unquoted(record["change"]) || line[len(line)-1] != was {
			t.Errorf("%s: CSV line %q, record %s", target, line, record)
		}
	}
}

// TestChanges checks what requests for changes have besides rows.
func TestChanges(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 7))
	before, after := changedTables(t, r, 60, 6)
	s := changesServer(t, before, after)
	const path = "/api/v2/coordination-context/funding/changes"
	ask := func(query string, fields ...reply.HeaderField) Answer {
		return s.Answer("GET", path+"?app_identifier="+goodIdentifier+query, fields)
	}
	first := ask("&since=before")
	tag, _ := first.field("Etag")
	exposed, _ := first.field("Access-Control-Expose-Headers")
	if !strings.HasSuffix(exposed, ", "+contract.HeaderChanges) {
		t.Errorf("browsers may read %s", exposed)
	}
	if got := ask("&since=before", reply.HeaderField{Name: "If-None-Match", Value: tag}); got.Status != 304 {
		t.Errorf("the tag of the answer gives %d", got.Status)
	}
	for range 3 { // rendered, rendered and kept, from the cache
		got := ask("&since=before")
		if totals, _ := got.field(contract.HeaderChanges); string(got.Body) != string(first.Body) || totals == "" {
			t.Errorf("the same request again gives another answer, or no totals: %q", totals)
		}
	}
	head := s.Answer("HEAD", path+"?app_identifier="+goodIdentifier+"&since=before", nil)
	for _, name := range []string{contract.HeaderChanges, "Etag", contract.HeaderTotal, "Link"} {
		want, _ := first.field(name)
		if got, _ := head.field(name); head.Status != 200 || got != want {
			t.Errorf("HEAD: %d, %s %q, want %q", head.Status, name, got, want)
		}
	}
	if got := ask("&since=after"); string(got.Body) != `{"data":[]}` {
		t.Errorf("since the current snapshot: %s", got.Body)
	}
	back := ask("&since=after&snapshot=before")
	totals, _ := first.field(contract.HeaderChanges)
	var added, removed, changed int
	fmt.Sscanf(totals, "added=%d, removed=%d, changed=%d", &added, &removed, &changed)
	want := fmt.Sprintf("added=%d, removed=%d, changed=%d", removed, added, changed)
	if got, _ := back.field(contract.HeaderChanges); got != want || added+removed+changed == 0 {
		t.Errorf("the other way round: %s, want %s", got, want)
	}
	if other, _ := back.field("Etag"); other == tag {
		t.Errorf("both ways have the tag %s", tag)
	}
	few := ask("&since=before&fields=appeal_code,funding_usd&limit=5")
	for _, record := range answerRecords(t, "fields", few) {
		names := slices.Sorted(maps.Keys(record))
		if !slices.Equal(names, []string{"appeal_code", "change", "funding_usd", "was"}) {
			t.Errorf("two fields: %q", names)
		}
		if strings.Contains(string(record["was"]), "appeal_name") {
			t.Errorf("a field that was not asked for: %s", record["was"])
		}
	}
	page := ask("&since=before&limit=2")
	link, _ := page.field("Link")
	if !strings.Contains(link, "since=before") || !strings.Contains(link, `rel="next"`) {
		t.Errorf("links: %s", link)
	}
}

// TestChangesRefusals checks what is answered if there is nothing to compare with.
func TestChangesRefusals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 7))
	before, after := changedTables(t, r, 10, 6)
	s := changesServer(t, before, after)
	for _, m := range s.Mounts {
		path := m.Prefix + contract.EndpointsIn(m.Names)[0].Path + "/changes?app_identifier=" + goodIdentifier
		for query, want := range map[string]string{
			"":                                   `422 {"detail":[{"type":"missing","loc":["query","since"],"msg":"Field required: the id of`,
			"&since=":                            `422 {"detail":[{"type":"string_pattern_mismatch","loc":["query","since"]`,
			"&since=a%2Fb":                       `422 {"detail":[{"type":"string_pattern_mismatch","loc":["query","since"]`,
			"&since=.hidden":                     `422 {"detail":[{"type":"string_pattern_mismatch","loc":["query","since"]`,
			"&since=no-longer":                   `410 {"detail":"The snapshot in since is not held any more`,
			"&since=before&limit=x":              `422 {"detail":[{"type":"int_parsing","loc":["query","limit"]`,
			"&since=" + strings.Repeat("x", 129): `422 {"detail":[{"type":"string_too_long","loc":["query","since"]`,
		} {
			got := s.Answer("GET", path+query, nil)
			if text := fmt.Sprintf("%d %s", got.Status, got.Body); !strings.HasPrefix(text, want) {
				t.Errorf("%s: %s, want %s", query, text, want)
			}
		}
		target := path + "&since=before"
		answer := s.Answer("GET", target, nil)
		tag, _ := answer.field("Etag")
		s.Answer("GET", target, nil) // which is kept
		s.Retained.Lock()
		kept := s.Retained.Entries
		s.Retained.Entries = nil
		s.Retained.Unlock()
		for _, fields := range [][]reply.HeaderField{nil, {{Name: "If-None-Match", Value: tag}}} {
			if got := s.Answer("GET", target, fields); got.Status != 410 {
				t.Errorf("%d for a cached answer about a snapshot that is not held any more", got.Status)
			}
		}
		s.Retained.Lock()
		s.Retained.Entries = kept
		s.Retained.Unlock()
	}
}

// TestChangesOfMissingTables checks snapshots of which one has no table.
func TestChangesOfMissingTables(t *testing.T) {
	t.Parallel()
	tables := sampleTables(t, 20)
	s := changesServer(t, nil, tables)
	for i := range contract.Endpoints {
		target := contract.Endpoints[i].Path + "/changes?app_identifier=" + goodIdentifier
		added := s.Answer("GET", target+"&since=before", nil)
		removed := s.Answer("GET", target+"&since=after&snapshot=before", nil)
		for want, got := range map[string]Answer{
			"added=20, removed=0, changed=0": added, "added=0, removed=20, changed=0": removed,
		} {
			if totals, _ := got.field(contract.HeaderChanges); totals != want || got.Status != 200 {
				t.Errorf("%s: %d %s, want %s", target, got.Status, totals, want)
			}
		}
		if len(answerRecords(t, target, added)) != 20 || len(answerRecords(t, target, removed)) != 20 {
			t.Errorf("%s: not 20 records", target)
		}
	}
}

// TestChangesQuarantined checks that a damaged table to compare with is refused.
func TestChangesQuarantined(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 7))
	before, after := changedTables(t, r, 10, 6)
	s := changesServer(t, before, after)
	const path = "/api/v2/coordination-context/funding"
	target := path + "/changes?app_identifier=" + goodIdentifier + "&since=before"
	if got := s.Answer("GET", target, nil); got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	v := s.AcquirePinned("before")
	list := v.Bound.Lists[path]
	s.Inspector.Quarantine(list.Version, list.Segment, state.ByChecksum, fmt.Errorf("a test"))
	v.Release(s.Log)
	if got := s.Answer("GET", target, nil); got.Status != 410 {
		t.Errorf("a damaged table of a snapshot that is not healed: %d %s", got.Status, got.Body)
	}
	if got := s.Answer("GET", path+"?app_identifier="+goodIdentifier, nil); got.Status != 200 {
		t.Errorf("the list itself: %d", got.Status)
	}
	v = s.AcquirePinned("after")
	list = v.Bound.Lists[path]
	s.Inspector.Quarantine(list.Version, list.Segment, state.ByChecksum, fmt.Errorf("a test"))
	v.Release(s.Log)
	if got := s.Answer("GET", target+"&snapshot=before", nil); got.Status == 200 {
		t.Errorf("a damaged current table: %d", got.Status)
	}
}

// TestChangesOfTruncatedFile truncates the file of a table to compare with. The request that meets
// the fault gets an error, and nothing else does.
func TestChangesOfTruncatedFile(t *testing.T) {
	d := newDamagedServer(t)
	tables := []*testTable{numberedLocations(50, nil)}
	if err := d.Swap(state.Release{Snapshot: storeSnapshot(t, "after", sampleTime, tables)}); err != nil {
		t.Fatal(err)
	}
	list, query, _ := strings.Cut(damagedTarget, "?")
	target := list + "/changes?" + query + "&since=" + sampleID
	d.expect(t, 200, "GET", target)
	if err := os.Truncate(d.file, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d.expect(t, 410, "GET", target)
		d.expect(t, 200, "GET", damagedTarget)
	}
	if !strings.Contains(d.log.String(), "a table of a replaced snapshot is refused") {
		t.Errorf("the log has %s", d.log)
	}
}
