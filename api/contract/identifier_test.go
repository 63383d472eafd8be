package contract

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"hdqs/internal/testkit"
)

// TestIdentifiers lists values with whether they are valid identifiers, for us and for the strict
// decoder of the original service.
func TestIdentifiers(t *testing.T) {
	std := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for _, c := range []struct {
		value        string
		strict, good bool
	}{
		{std("my-app:me@example.org"), true, true},
		{std("abcd:me@example.org"), true, true},
		{std("abc:me@example.org"), false, false},
		{std(strings.Repeat("é", 512) + ":me@example.org"), true, true},
		{std(strings.Repeat("é", 513) + ":me@example.org"), false, false},
		{std("    :me@example.org"), true, true},
		{std("my-app:  me@example.org "), true, true},
		{std("my-app:Some Name <me@example.org>"), true, true},
		{std("my-app: <me@example.org>"), true, true},
		{std("my-app:Some, Name <me@example.org>"), false, false},
		{std("my-app:me@example"), false, false},
		{std("my-app:"), false, false},
		{std(":me@example.org"), false, false},
		{std("my-app"), false, false},
		{std("my:app:me@example.org"), false, true},
		{std("my-app:me@example.org:x"), false, false},
		{std("my-app:\xff@example.org"), false, false},
		{"bXktYXBwOm1l QGV4YW1wbGUub3Jn", true, true},    // spaces are ignored
		{"bXktYXBwOm1l\r\nQGV4YW1wbGUub3Jn", true, true}, // so are line breaks
		{"bXktYXBwOm1lQGV4YW1wbGUub3Jn====", true, true}, // more '=' than needed
		{"bXkt=YXBwOm1lQGV4YW1wbGUub3Jn", true, true},    // a '=' inside a group
		{strings.TrimRight(std("my-app1:me@example.org"), "="), false, true},
		{std("my-app1:me@example.org") + "junk", true, true}, // text after the padding is ignored
		{std("my-app1:me@example.org") + "=", true, true},
		{"b", false, false},
		{goodIdentifier[:25], false, false}, // truncated, with one base64 digit too many
		{"é" + goodIdentifier, false, false},
		{"my-app:me@example.org", false, false},
		{"my-app", false, false},
		{base64.URLEncoding.EncodeToString([]byte("a?b>c~d\xc3\xbf\xc3\xbe:me@example.org")), false, true},
		{base64.RawURLEncoding.EncodeToString([]byte("a?b>c~d?:me@example.org")), false, true},
		{strings.ReplaceAll(std("a>b>c>d>:me@example.org"), "+", " "), false, true},
	} {
		if strict := identifierFault([]byte(c.value), false) == ""; strict != c.strict {
			t.Errorf("%.60q: valid for the strict decoder: %v", c.value, strict)
		}
		fault := CheckIdentifier([]byte(c.value), "Help.")
		testkit.Equal(t, (fault == nil), c.good, "%.60q: valid: %v: %+v", c.value, fault == nil, fault)
		if fault != nil && (fault.Text != "Invalid app identifier" || !strings.HasSuffix(fault.Hint, " Help.")) {
			t.Errorf("%.60q: wrong error text or hint: %+v", c.value, fault)
		}
		application, email, err := DecodeIdentifier(c.value)
		if (err == nil) != c.good || c.good &&
			(utf8.RuneCountInString(application) < minApplication || !strings.Contains(email, "me@example.org")) {
			t.Errorf("%.60q: decoded as %q, %q, %v", c.value, application, email, err)
		}
	}
	if fault := CheckIdentifier(nil, ""); fault == nil || fault.Text != "Missing app identifier" {
		t.Errorf("without an identifier: %+v", fault)
	}
}

// FuzzIdentifier checks three rules: error texts are valid UTF-8 and short, an encoded identifier
// is valid, and whatever the strict decoder accepts is valid.
func FuzzIdentifier(f *testing.F) {
	for _, seed := range []string{"", goodIdentifier, "====", "bXkt=", "a-_ +/", "\xff", "my-app:me@example.org"} {
		f.Add(seed, "my-app", "me@example.org")
	}
	f.Add("x", "a:b:c", "Some Name <A@B.co>")
	f.Fuzz(func(t *testing.T, value, application, email string) {
		if fault := CheckIdentifier([]byte(value), ""); fault != nil {
			if text := fault.Text + fault.Hint; !utf8.ValidString(text) || len(text) > 650 {
				t.Errorf("%q: the error text %q is too long or not UTF-8", value, text)
			}
		}
		if identifierFault([]byte(value), false) == "" && CheckIdentifier([]byte(value), "") != nil {
			t.Errorf("%q is valid for the strict decoder only", value)
		}
		if !utf8.ValidString(application) || !utf8.ValidString(email) {
			return // decoded queries are valid UTF-8
		}
		identifier, issues := EncodeIdentifier(application, email)
		if len(issues) > 0 {
			return
		}
		if fault := CheckIdentifier([]byte(identifier), ""); fault != nil {
			t.Errorf("%q, %q: the encoded identifier %s is invalid: %+v", application, email, identifier, fault)
		}
		standard, err := base64.StdEncoding.DecodeString(identifier)
		ours, ok := appendBase64(nil, []byte(identifier), false)
		if err != nil || !ok || string(ours) != string(standard) {
			t.Errorf("%s decodes to %q, and to %q by encoding/base64", identifier, ours, standard)
		}
	})
}

// FuzzQuery compares the query parser with one built on net/url, and checks the results of the
// parameter parser.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "a=b&c", "location_code=%41FG&limit=1", "a=%zz%4&&=x&b=+%2B", "x=%e2%82&y=%f0%9f%8c%8d%ff",
		"limit=1&limit=2", "a;b=1;c",
		"price_min=1e999999&price_max=nan", "start_date=2024&end_date=x", "admin_level=3&population_min=1__0",
		"%6Cimit=5",
		"api_updated_date_min=2023-05-17T10:20%2B02:00", "a=b=c&=", "%", "=%&%=",
	} {
		f.Add(seed)
	}
	var plans []*Plan
	for i := range Endpoints {
		plans = append(plans, NewPlan(&Endpoints[i], Rows))
	}
	f.Fuzz(func(t *testing.T, query string) {
		want := plainQuery(query)
		var r Request
		for _, p := range plans {
			r.Scanned.Scan(p, []byte(query))
			for position, param := range p.Params {
				value, given := want[param.Name]
				if r.Scanned.isGiven(position) != given || given && r.Scanned.text(position) != value {
					t.Fatalf("%q: %s is %q %v, want %q %v", query, param.Name,
						r.Scanned.text(position), r.Scanned.isGiven(position), value, given)
				}
			}
			if identifier := string(r.Scanned.Identifier()); identifier != want[IdentifierParam] ||
				identifier != string(QueryIdentifier([]byte(query))) {
				t.Fatalf("%q: the identifier is %q, want %q", query, identifier, want[IdentifierParam])
			}
			var invalid *Invalid
			var badDay *BadDay
			switch err := r.Parse(); {
			case errors.As(err, &invalid):
				for _, issue := range invalid.Issues {
					if !utf8.ValidString(issue.Message().String() + issue.Input) {
						t.Fatalf("%q: an issue is not valid UTF-8: %+v", query, issue)
					}
				}
			case errors.As(err, &badDay):
			case err != nil:
				t.Fatalf("%q: unexpected error: %v", query, err)
			case r.Question.Limit < 0 || r.Question.Limit > MaxLimit || len(r.Question.Filters) > len(p.Params):
				t.Fatalf("%q: the limit is out of range, or there are too many filters: %+v", query, r)
			}
		}
	})
}

// plainQuery returns the last value of each name.
func plainQuery(query string) map[string]string {
	values := map[string]string{}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		values[plainText(name)] = plainText(value)
	}
	return values
}

// plainText decodes escapes one at a time, so that a malformed escape does not affect the rest.
func plainText(encoded string) string {
	var b strings.Builder
	for i := 0; i < len(encoded); {
		if encoded[i] == '%' && i+3 <= len(encoded) {
			if piece, err := url.QueryUnescape(encoded[i : i+3]); err == nil {
				b.WriteString(piece)
				i += 3
				continue
			}
		}
		if encoded[i] == '+' {
			b.WriteByte(' ')
		} else {
			b.WriteByte(encoded[i])
		}
		i++
	}
	text, _ := unicode.UTF8.NewDecoder().String(b.String())
	return text
}

// TestIdentifierValue lists values of filters with whether they may tell who sends the request.
func TestIdentifierValue(t *testing.T) {
	std := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	good := std("my-app:me@example.org")
	for value, want := range map[string]bool{
		"me@example.org": true, "me%40example.org": true, "me%2540example.org": true,
		good: true, "%" + good + "%": true,
		good + "=": true, url.QueryEscape(good + "="): true,
		std("my-app:me@example"): true, std("my-app=me@example.org"): true,
		"": false, "AFG": false, "100 %": false, "%40": true, "%4": false, "Afghanistan": false, "my-app": false,
		"Democratic Republic of the Congo": false, "b96fd135-e3a4-4e0c-8409-167be2bba03d": false, "%ab%": false,
	} {
		var r Request
		r.Scanned.Scan(planOf("/api/v2/metadata/location"), []byte("name="+url.QueryEscape(value)))
		testkit.Must(t, r.Parse())
		testkit.Equal(t, r.HasIdentifierValue(), want, "%q", value)
	}
}
