//go:build !race

package list_test

import (
	"encoding/base64"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// shownWithheld replaces names that must not be repeated in an answer.
const shownWithheld = "(withheld)"

// decodings returns every text that a base64 decoder can make of a text: with either alphabet, from
// every offset, and with other characters skipped or taken as the end.
func decodings(text string) []string {
	var all []string
	for _, alphabet := range []string{"+/", "-_"} {
		isDigit := func(r rune) bool {
			return r < utf8.RuneSelf &&
				(('a' <= r|0x20 && r|0x20 <= 'z') || '0' <= r && r <= '9' || strings.ContainsRune(alphabet, r))
		}
		pieces := strings.FieldsFunc(text, func(r rune) bool { return !isDigit(r) })
		pieces = append(pieces, strings.Join(pieces, ""))
		for _, piece := range pieces {
			piece = strings.NewReplacer("-", "+", "_", "/").Replace(piece)
			for first := range min(4, len(piece)) {
				part := piece[first:]
				if len(part)%4 == 1 {
					part = part[:len(part)-1]
				}
				decoded, err := base64.RawStdEncoding.DecodeString(part)
				if err != nil {
					panic(err)
				}
				all = append(all, string(decoded))
			}
		}
	}
	return all
}

// askUnknown requests a list with one more parameter. It returns the reported names, and the whole
// text of two answers: the list, and the error that a strict request gets.
func askUnknown(t *testing.T, s *api.Server, query string) (names, answers string) {
	t.Helper()
	target := "/api/v2/metadata/location?limit=0&" + query
	header := apitest.Fields("X-CATALOG-API-APP-IDENTIFIER", apitest.Identifier)
	list := s.Answer("GET", target, header)
	strict := s.Answer("GET", target, append(header, reply.HeaderField{Name: "Prefer", Value: "handling=strict"}))
	if list.Status != 200 || strict.Status != 422 {
		t.Fatalf("%s: %d and %d", query, list.Status, strict.Status)
	}
	var b strings.Builder
	for _, a := range []api.Answer{list, strict} {
		for _, f := range a.Header {
			b.WriteString(f.Name + ": " + f.Value + "\n")
		}
		b.Write(a.Body)
	}
	names, _ = apitest.Field(list, "X-Unknown-Params")
	return names, b.String()
}

// TestUnknownNames checks that ordinary names and typing errors are reported as sent, and that
// anything that may be an identifier, or a part of one, is withheld.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	for _, name := range []string{
		"location_cod", "admin1_nam", "foo", "utm_source", "X-Y.z", "sort_by", "reference_period_start_min", "_",
		"pageSize", "page.size", "LOCATION_CODE",
		"operational_presence", "resource_hdx_id", "ipc_type", "Limit", "app_identifer", "fbclid", "adminLevel", "iso3",
		"appIdentifier",
		"has-hrp", "updateDateMin", "a", "app-identifier", "organisation_acronym", "provider_admin2_name",
	} {
		if names, _ := askUnknown(t, s, name+"=1"); names != name {
			t.Errorf("%s is reported as %q", name, names)
		}
	}
	const identifier = "cmV2LWFwcDptYWlsYm94QGV4YW1wbGUub3Jn" // rev-app:mailbox@example.org
	for _, query := range []string{
		identifier, "app_identifier%3D" + identifier, "x" + identifier, identifier + "x", "xy" + identifier,
		"xyz" + identifier, "%20" + identifier,
		identifier + "%20", "+" + identifier, "id-" + identifier, "id_" + identifier, "i.d" + identifier,
		"app_identifier:" + identifier,
		identifier + "%3D%3D", "%253D" + identifier, strings.ReplaceAll(identifier, "L", "%254C"),
		identifier[:18] + "-" + identifier[18:],
		identifier[:9] + "_" + identifier[9:19] + "." + identifier[19:], identifier[:24], identifier[9:],
		"k" + identifier[5:25],
		"mailbox%40example.org", "rev-app:mailbox", "mailbox%2540example.org", "mailbox%0D%0AX:y", "\"mailbox\"",
		"1mailbox", "m%C3%A4ilbox",
		strings.Repeat("a", 41),
	} {
		names, answers := askUnknown(t, s, query)
		if names != shownWithheld || strings.Contains(answers, "mailbox") {
			t.Errorf("%s is reported as %q, want it withheld", query, names)
		}
	}
	several := "b=1&b=2&" + identifier + "=1&x" + identifier + "&=3&a"
	if names, _ := askUnknown(t, s, several); names != "(empty), (withheld), a, b" {
		t.Errorf("several names: %q", names)
	}
}

// TestUnknownNamesLeak sends random identifiers as parameter names, modified in many ways. No
// decoding of any part of the answers may contain the address or the part of it before the '@'.
func TestUnknownNamesLeak(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	random := rand.New(rand.NewPCG(11, 403))
	text := func(alphabet string, least, most int) string {
		letters := []rune(alphabet)
		out := make([]rune, least+random.IntN(most-least+1))
		for i := range out {
			out[i] = letters[random.IntN(len(letters))]
		}
		return string(out)
	}
	const lower, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	// Groups of letters of the second and third alphabet encode to lower-case letters only, so that
	// their base64 looks like an ordinary name.
	locals := []string{
		lower, "jnrvzghijklwxyzabcdefs", "jz", lower + digits, lower + strings.ToUpper(lower), "aé語",
		"~?_" + lower,
	}
	applications := []string{
		lower + "-", lower + strings.ToUpper(lower) + digits + " ._", "jz", "é語x", "\x01\x7fa",
		"?>~",
	}
	domains := []string{lower, "jz", "é語"}
	affixes := []string{
		"", "x", "xy", "xyz", "id-", "id_", "app_identifier=", "app_identifier:", " ", "-", "_", ".", "=", "==", "%",
		"\n", "&", "/", "A", "0", "a.b_c-",
	}
	affix := func() string {
		if random.IntN(2) == 0 {
			return affixes[random.IntN(len(affixes))]
		}
		return text(lower+strings.ToUpper(lower)+digits+"-_.", 0, 9)
	}
	for range apitest.Trials(20000, 1500) {
		local := text(locals[random.IntN(len(locals))], 5, 12)
		address := local + "@" + text(domains[random.IntN(len(domains))], 1, 8) + "." + text(lower, 1, 3)
		identifier, issues := contract.EncodeIdentifier(text(applications[random.IntN(len(applications))], 4, 10),
			address)
		if issues != nil {
			continue // the last label may be reserved
		}
		switch random.IntN(5) {
		case 0:
			identifier = strings.TrimRight(identifier, "=")
		case 1:
			identifier = strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(identifier)
		case 2:
			at := random.IntN(len(identifier))
			identifier = identifier[:at] + text("-_. \n", 1, 3) + identifier[at:]
		}
		if contract.CheckIdentifier([]byte(identifier), "") != nil {
			t.Fatalf("%q is not a valid identifier", identifier)
		}
		query := url.QueryEscape(affix() + identifier + affix())
		if random.IntN(6) == 0 {
			query = url.QueryEscape(query)
		}
		names, answers := askUnknown(t, s, query)
		testkit.Equal(t, names, shownWithheld, "%s, %s: reported as", address, query)
		for _, decoded := range append(decodings(answers), answers) {
			testkit.Lacks(t, decoded, local, "%s, %s is in the answers, decoded from %s", address, query, answers)
		}
	}
}
