package browse

import (
	_ "embed"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
)

// Snippet is a program that reads all records of a question.
type Snippet struct{ Language, Code string }

// Lines is how many lines the program has.
func (s Snippet) Lines() int { return strings.Count(strings.TrimSuffix(s.Code, "\n"), "\n") + 1 }

//go:embed snippets.txt
var snippetsText string

// snippetTexts are the programs by their languages. The first use parses them.
var snippetTexts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"shell":  func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" },
		"double": strconv.QuoteToASCII, // Python and R
		"script": scriptText,
		"sql":    func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" },
		"m":      mText,
	}).Parse(snippetsText))
})

// scriptText quotes a text as JavaScript reads it.
func scriptText(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string has no error
	}
	return string(quoted)
}

// mText quotes a text as Power Query's M does.
func mText(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// Snippets are programs that read all records of a list with these parameters, in several
// languages. path is that of the list below the address of the service, and feed the address of
// OData, which is for all records only: filters of lists match otherwise. All but two ask for an
// export, which is one answer however many records there are.
func Snippets(base, path, feed, set string, filters url.Values) (all []Snippet) {
	languages := []string{"curl", "Python", "R", "JavaScript", "DuckDB", "Power Query", "Google Sheets"}
	if len(filters) == 0 {
		languages = append(languages, "OData")
	}
	for _, language := range languages {
		var code strings.Builder
		if err := snippetTexts().ExecuteTemplate(&code, language, list{base, path, filters, feed, set}); err != nil {
			panic(err) // the programs are part of this one
		}
		all = append(all, Snippet{language, code.String()})
	}
	return all
}

// list is what a program reads.
type list struct {
	Service, path string
	filters       url.Values
	Feed, Set     string
}

// Path is the address of exports of the list.
func (l list) Path() string { return l.Service + l.path + "/export" }

// Export is the address of an export in a format.
func (l list) Export(format string) string { return l.Path() + "?" + l.in(format).Encode() }

func (l list) in(format string) url.Values {
	values := maps.Clone(l.filters)
	values.Set(formatParam, format)
	return values
}

// Pages is the address of the list with the greatest limit, so that there always is one.
func (l list) Pages() string {
	values := url.Values{"limit": {"10000"}}
	maps.Copy(values, l.filters)
	return l.Service + l.path + "?" + values.Encode()
}

// Pairs are the parameters of an export in JSON, in JavaScript.
func (l list) Pairs() string {
	var all []string
	for _, pair := range pairs(l.in("json")) {
		all = append(all, "["+scriptText(pair[0])+", "+scriptText(pair[1])+"]")
	}
	return strings.Join(all, ", ")
}

// Query is the parameters of an export in JSON, in Power Query's M.
func (l list) Query() string {
	var query []string
	values := l.in("json")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var quoted []string
		for _, v := range values[name] {
			quoted = append(quoted, mText(v))
		}
		text := strings.Join(quoted, ", ")
		if len(quoted) > 1 {
			text = "{" + text + "}"
		}
		query = append(query, "#"+mText(name)+" = "+text)
	}
	return strings.Join(query, ", ")
}

// RelativePath is the path of exports below the service.
func (l list) RelativePath() string { return strings.TrimPrefix(l.path, "/") + "/export" }
