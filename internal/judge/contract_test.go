package judge

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/testkit"
	"hdqs/testdata"
)

var update = flag.Bool("update", false, "condense the contract again")

// TestCondensedContract compares testdata/contract.json with the full contract it was made from, if
// that is in the directory beside the project. With -update it makes the file. What it says about
// sums, which are an extension, stays.
func TestCondensedContract(t *testing.T) {
	full := filepath.Join("..", "..", "..", "shared", "contract", "contract.json")
	if _, err := os.Stat(full); os.IsNotExist(err) {
		return
	}
	c := testkit.Value(parseContract(testkit.ReadFile(t, full)))(t)
	withoutSource(c.Errors)
	now := testkit.Value(parseContract(testdata.Contract))(t)
	c.Sums = now.Sums
	got := condense(c)
	if *update {
		testkit.WriteFile(t, filepath.Join("..", "..", "testdata", "contract.json"), got)
	} else if !bytes.Equal(got, testdata.Contract) {
		t.Errorf("testdata/contract.json is not condensed from %s: run the test with -update", full)
	}
}

// condense writes c with one parameter, field or sort key on each line, so that a change of the
// contract is a diff of the lines it concerns.
func condense(c *contract) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n\"contract\": %s,\n\"interface_version\": %s,\n\"enums\": %s,\n", plainJSON(c.Name),
		plainJSON(c.Version), plainJSON(c.Enums))
	b.WriteString("\"common_params\": " + linesOf(c.Common) + "],\n\"endpoints\": [\n")
	for i, e := range c.Paths {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"path": %s, "group": %s, "method": %s,`, plainJSON(e.Path), plainJSON(e.Group),
			plainJSON(e.Method))
		b.WriteString("\n \"params\": " + linesOf(e.Params) + " ],\n \"fields\": " + linesOf(e.Fields) +
			" ],\n \"order_by\": " + linesOf(e.Order) + " ],\n \"tie_break\": " + linesOf(e.Tie) + " ]}")
	}
	fmt.Fprintf(&b, "\n],\n\"other_routes\": %s],\n\"errors\": %s,\n\"sums\": %s\n}\n", linesOf(c.Other),
		plainJSON(c.Errors), plainJSON(c.Sums))
	return []byte(b.String())
}

// linesOf opens a list and writes each item on its own line.
func linesOf[T any](items []T) string {
	var b strings.Builder
	b.WriteString("[\n")
	for i, item := range items {
		b.WriteString("  " + plainJSON(item))
		if i < len(items)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// plainJSON encodes what was decoded from JSON, without HTML escapes.
func plainJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// withoutSource deletes the keys that name the source of a rule, at any depth.
func withoutSource(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "src")
		for _, part := range v {
			withoutSource(part)
		}
	case []any:
		for _, part := range v {
			withoutSource(part)
		}
	}
}

// trapText is a request for a figure that is easy to get wrong, and below it why, and the right
// figure as another program finds it, if one has.
var trapText = regexp.MustCompile(`(?m)^(\w\S*)\n\t([^=].*)(?:\n\t= (\S+))?$`)

// trapCheck sends such a request to a server of the real input.
type trapCheck struct {
	*testing.T
	w                   *world
	c                   *client
	judged              map[string]bool // paths whose answers were compared
	path, reason, value string
}

// TestWrongSumFixtures asks the real input for figures that would count people, money or events
// twice or leave some out. Each request must be refused, and the request that the refusal names be
// right, or be answered with the right figure. The judge finds out what is right from the rows; the
// figures in the list are from a program that knows nothing of sums. All are asked for; the judge
// answers each third request too, in the long form each.
func TestWrongSumFixtures(t *testing.T) {
	fixtures := testkit.Fixtures(t)
	if testing.Short() {
		t.Skip("builds and runs the whole program")
	}
	binary, store := hdqsBinary(t), filepath.Join(t.TempDir(), "store")
	command(t, binary, "build", "--catalog", filepath.Join(fixtures, "catalog"), "--store", store,
		"--snapshot-time", wholeTime)
	base := serveStore(t, binary, store)
	w := readServed(t, base, "")
	c := testkit.Value(newClient(base))(t)
	text := string(testkit.ReadFile(t, filepath.Join("..", "..", "cmd", "hdqs", "testdata", "wrong_sums.txt")))
	traps := trapText.FindAllStringSubmatch(text, -1)
	refused, lists, judged := 0, map[string]bool{}, map[string]bool{}
	for _, one := range traps {
		path, _, _ := strings.Cut(one[1], "/aggregate")
		lists[path] = true
		if (&trapCheck{t, w, c, judged, one[1], one[2], one[3]}).check() {
			refused++
		}
	}
	t.Logf("%d traps in %d lists, %d refused", len(traps), len(lists), refused)
	if len(traps) < 200 || len(traps) != strings.Count(text, "/aggregate?") || len(lists) < 13 || refused < 180 {
		t.Error("want all traps of the list with a reason, at least 200 in 13 lists, and 180 refused")
	}
}

func (c *trapCheck) errorf(format string, args ...any) {
	c.Helper()
	c.Errorf("%s\n%s\n%s", c.path, c.reason, fmt.Sprintf(format, args...))
}

// check sends a trap and reports whether it is refused.
func (c *trapCheck) check() bool {
	c.Helper()
	r := request{Method: "GET", Path: pathPrefix + c.path}
	got := c.judge(r.Path)
	instead := suggested(r, got)
	if instead == nil && (got.Status != 200 || c.value == "") {
		c.errorf("%d, and no other request is named, or no figure is listed: %.600s", got.Status, got.Body)
		return false
	}
	hapi := c.get("/hapi" + hapiNames.Replace(r.Path))
	if instead == nil {
		c.testValue(r.Path, got.Body, hapi.Body)
		return false
	}
	right, named := c.judge(instead.Path), suggested(r, hapi)
	switch {
	case right.Status != 200 || !strings.ContainsAny(right.Body, "0123456789"):
		c.errorf("names %s: %d, %.600s", instead.Path, right.Status, right.Body)
	case named == nil || len(named.Path) != len("/hapi"+hapiNames.Replace(instead.Path)): // maybe in another order
		c.errorf("in HAPI names: %.600s, want %s", hapi.Body, instead.Path)
	default:
		if what := c.w.lost(r, *instead); what != "" {
			c.errorf("names %s, without %s", instead.Path, what)
		}
		c.testCountries(instead.Path)
		c.testValue(instead.Path, right.Body, c.get(named.Path).Body)
	}
	return true
}

// judge sends a request and compares the answer with the judge's.
func (c *trapCheck) judge(path string) reply {
	c.Helper()
	got := c.get(path)
	if !c.judged[path] && (testkit.Long() || len(c.judged)%3 == 0) {
		r := request{Method: "GET", Path: path, Headers: map[string]string{identifierHeader: goodOne}}
		for _, differs := range c.w.answer(r).differences(r, got) {
			c.errorf("%s: %s", path, differs)
		}
	}
	c.judged[path] = true
	return got
}

func (c *trapCheck) get(path string) reply {
	c.Helper()
	got, err := c.c.send(request{Method: "GET", Path: path, Headers: map[string]string{identifierHeader: goodOne}})
	testkit.Must(c, err)
	return got
}

// hapiNames replaces the names of the contract that occur in traps by those of HDX HAPI.
var hapiNames = strings.NewReplacer("classification_", "ipc_", "resource_catalog_id", "resource_hdx_id")

// testValue compares the answers in both sets of names, and the total of the first measure over all
// records with the figure in the list.
func (c *trapCheck) testValue(path, body, hapi string) {
	c.Helper()
	if hapi != hapiNames.Replace(body) {
		c.errorf("%s in HAPI names: %.300s, want %.300s", path, hapi, body)
	}
	if c.value == "" {
		return
	}
	_, measure, _ := strings.Cut(c.path, "measures=")
	measure = strings.ReplaceAll(measure[:strings.IndexAny(measure+",", ",&")], ":", "_")
	total := 0.0
	for _, text := range shownIn(c.T, c.get(path+"&limit=10000").Body, measure) {
		number, _ := strconv.ParseFloat(text, 64)
		total += number
	}
	if want, err := strconv.ParseFloat(c.value, 64); err != nil || total != want {
		c.errorf("%s: the figure is %f, want %s", path, total, c.value)
	}
}

// testCountries looks for countries that the request instead of a trap leaves out: of those with a
// place of the level that it groups by, or a lower one.
func (c *trapCheck) testCountries(instead string) {
	c.Helper()
	e, rd := c.reader(instead)
	if _, one := rd.q.last("location_code"); one || e.field("admin_level") == nil {
		return // editions of lists of journeys leave countries out
	}
	level := int64(0)
	for n, unit := range []string{"admin1_", "admin2_"} {
		if groups, _ := rd.q.last("group_by"); strings.Contains(groups, unit) {
			level = int64(n) + 1
		}
	}
	has := valuesOf("location_code", rd.passing(c.w.rows[e.Path]))
	_, all := c.reader(pathPrefix + c.path)
	for _, r := range all.passing(c.w.rows[e.Path]) {
		code := r.at("location_code").(string)
		if of := r.stored["admin_level"].(int64); of >= level && !slices.Contains(has, code) {
			c.errorf("names %s, without %s", instead, code)
			return
		}
	}
}

// reader reads the filters of a request, without admin_level=coarsest and latest, which keep rows
// of every country.
func (c *trapCheck) reader(path string) (*endpoint, *reader) {
	path, text, _ := strings.Cut(path, "?")
	e := c.w.contract.byPath[strings.TrimSuffix(path, "/aggregate")]
	rd := &reader{contract: c.w.contract, q: readQuery(text), levels: true}
	for _, p := range inOrder(c.w.contract, e) {
		rd.read(p)
		rd.readList(p)
	}
	return e, rd
}
