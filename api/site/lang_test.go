//go:build !race

package site_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/web"
	"hdqs/internal/testkit"
)

// langFile is a file of texts.
type langFile struct {
	Texts map[string]any
	Said  map[string]string // of package say
}

func readLang(t *testing.T, code string) (f langFile) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "lang", code+".json"))
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	testkit.Must(t, err)
	return f
}

// forms are the texts of a key: one, or one for each plural category.
func forms(value any) (all []string) {
	switch value := value.(type) {
	case string:
		return []string{value}
	case map[string]any:
		for _, form := range slices.Sorted(maps.Keys(value)) {
			all = append(all, value[form].(string))
		}
	}
	return all
}

// inTemplates are texts of templates: [[text]], which may have lines, and {{t "text"}}.
var inTemplates = []*regexp.Regexp{regexp.MustCompile(`(?s)\[\[(.+?)\]\]`), regexp.MustCompile(`[{(]t "([^"]+)"`)}

// templateKeys are the texts of templates.
func templateKeys(t *testing.T, keys map[string]bool) {
	t.Helper()
	names := testkit.Value(fs.Glob(web.Templates, "*.html"))(t)
	for _, name := range names {
		source := testkit.Value(fs.ReadFile(web.Templates, name))(t)
		for _, texts := range inTemplates {
			for _, found := range texts.FindAllStringSubmatch(string(source), -1) {
				keys[strings.Join(strings.Fields(found[1]), " ")] = true
			}
		}
	}
}

// constant is the text of a literal, or of literals that are added up.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			value, err := strconv.Unquote(e.Value)
			return value, err == nil
		}
	case *ast.BinaryExpr:
		left, ok := constant(e.X)
		right, also := constant(e.Y)
		return left + right, ok && also && e.Op == token.ADD
	}
	return "", false
}

// TestSaid: each translation is of a format that the interface says, and has its arguments.
func TestSaid(t *testing.T) {
	t.Parallel()
	formats := map[string]bool{"Value error, %s": true}
	for _, dir := range []string{"browse", "contract", "figures", "find", "list", "reply", "say"} {
		files := testkit.Value(filepath.Glob(filepath.Join("..", dir, "*.go")))(t)
		for _, name := range files {
			parsed := testkit.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
			ast.Inspect(parsed, func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok {
					if text, ok := constant(e); ok {
						formats[text], formats["Value error, "+text] = true, true
					}
				}
				return true
			})
		}
	}
	for _, l := range lang.All()[1:] {
		for key, text := range readLang(t, l.Code).Said {
			if !formats[key] {
				t.Errorf("%s.json has %q, which the interface does not say", l.Code, key)
			}
			sameParts(t, l.Code, key, text, 1)
		}
	}
}

// goKeys are the texts that calls of T in Go have, and all texts of Go in the packages of pages, of
// which some are said by way of a variable.
func goKeys(t *testing.T) (said, all map[string]bool) {
	t.Helper()
	said, all = map[string]bool{}, map[string]bool{}
	for _, dir := range []string{
		"browse", "chart", "country", "find", "lang", "picture", "site", "state", "../internal/follow", "../loader",
	} {
		files := testkit.Value(filepath.Glob(filepath.Join("..", dir, "*.go")))(t)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			parsed := testkit.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
			ast.Inspect(parsed, func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok {
					if value, ok := constant(e); ok {
						all[value] = true
					}
				}
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) == 0 {
					return true
				}
				if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "T" {
					if value, ok := constant(call.Args[0]); ok {
						said[value] = true
					}
				}
				return true
			})
		}
	}
	return said, all
}

// dataKeys are the texts that declarations have: of figures, views, lists, fields and values.
func dataKeys(keys map[string]bool) {
	add := func(texts ...string) {
		for _, text := range texts {
			if text != "" {
				keys[text] = true
			}
		}
	}
	for _, h := range contract.Headlines {
		add(h.Title, h.Each, h.Unit, h.Reading, h.NotThis)
	}
	for _, v := range contract.Views {
		for _, d := range v.Drawings {
			add(append(d.Names, d.Title)...)
		}
	}
	add("Year")                                     // the label of a count
	for field, values := range map[string][]string{ // without a list of values
		"assessment_type": {"BA", "SA"}, "appeal_type": {
			"Humanitarian response plan", "Flash appeal",
			"Regional response plan", "CAP", "Other",
		},
	} {
		for _, value := range values {
			add(contract.Words(field, value))
		}
	}
	for month := time.January; month <= time.December; month++ {
		add(month.String())
	}
	for _, set := range []contract.NameSet{contract.ContractNames, contract.HAPINames} {
		endpoints := contract.EndpointsIn(set)
		for i := range endpoints {
			e := &endpoints[i]
			add(e.Summary, e.Texts().GroupTitle(), e.Texts().ShortName(), e.Texts().AddingUp())
			for _, f := range e.ExportFormats() {
				add(f.Title)
			}
			for _, f := range e.Figures {
				if f.Use == contract.Added {
					add(f.Noun)
				}
			}
			names := contract.FieldNames(e.Fields)
			for _, p := range contract.NewPlan(e, contract.Rows).Params {
				if len(p.Columns) > 0 || p.Name == contract.LatestParam {
					names = append(names, p.Name)
				}
				if p.Enum != nil {
					for _, value := range p.Enum.Values {
						add(contract.Words(p.Name, value))
					}
				}
			}
			for _, f := range e.Fields {
				if unit := e.Texts().Unit(f.Name); len(unit) > 3 {
					add(unit)
				}
				if f.Enum != nil {
					for _, value := range f.Enum.Values {
						add(contract.Words(f.Name, value))
					}
				}
			}
			for _, name := range names {
				name = strings.TrimSuffix(name, contract.SeveralSuffix)
				if !strings.HasSuffix(name, "_min") && !strings.HasSuffix(name, "_max") {
					label := contract.LabelOf(name)
					add(label, strings.TrimSuffix(label, " code"))
				}
			}
		}
	}
}

// untranslated are the declared texts that a language lacks, such as those of a new list. Pages say
// them in English.
func untranslated(t *testing.T, code string) map[string]bool {
	t.Helper()
	texts, file := map[string]bool{}, readLang(t, code)
	dataKeys(texts)
	maps.DeleteFunc(texts, func(text string, _ bool) bool { return file.Texts[text] != nil })
	return texts
}

// TestTexts: each language has every text of the pages, and none besides, with the same
// placeholders, actions and tags. Declared texts that it lacks are listed.
func TestTexts(t *testing.T) {
	t.Parallel()
	needed, dir := map[string]bool{}, os.Getenv("HDQS_TEXTS")
	templateKeys(t, needed)
	said, literal := goKeys(t)
	maps.Copy(needed, said)
	dataKeys(literal)
	if dir != "" {
		text, _ := json.MarshalIndent(slices.Sorted(maps.Keys(needed)), "", "")
		testkit.Must(t, os.WriteFile(dir, text, 0o600))
	}
	for _, l := range lang.All()[1:] {
		file := readLang(t, l.Code)
		for _, key := range slices.Sorted(maps.Keys(needed)) {
			if file.Texts[key] == nil {
				t.Errorf("%s.json lacks %q", l.Code, key)
			}
		}
		for text := range untranslated(t, l.Code) {
			t.Logf("%s.json lacks %q, which is declared: pages say it in English", l.Code, text)
		}
		for key, value := range file.Texts {
			if !needed[key] && !literal[key] {
				t.Errorf("%s.json has %q, which no page says", l.Code, key)
			}
			plural, _ := value.(map[string]any)
			for _, form := range forms(value) {
				most := 0
				if plural != nil && plural["other"] != form { // such as one without its number
					most = 1
				}
				sameParts(t, l.Code, key, form, most)
			}
		}
	}
}

// Parts of texts that translations repeat: actions and tags, and arguments.
var (
	kept      = regexp.MustCompile(`\{\{[^}]*\}\}|<[^>]*>`)
	arguments = regexp.MustCompile(`%(?:\.\d+)?(?:\[(\d)\])?[sdv]`)
)

// sameParts wants the parts of a text in its translation, which may lack some of the arguments.
func sameParts(t *testing.T, code, key, form string, lacks int) {
	t.Helper()
	want, got := kept.FindAllString(key, -1), kept.FindAllString(form, -1)
	slices.Sort(want)
	slices.Sort(got)
	testkit.EqualLists(t, want, got, "%s.json, %q: %q", code, key, form)
	of := func(text string) map[int]bool {
		numbers := map[int]bool{}
		for i, found := range arguments.FindAllStringSubmatch(text, -1) {
			n, err := strconv.Atoi(found[1])
			if err != nil {
				n = i + 1
			}
			numbers[n] = true
		}
		return numbers
	}
	all, has := of(key), of(form)
	for n := range has {
		if !all[n] {
			t.Errorf("%s.json, %q: %q has an argument %d", code, key, form, n)
		}
	}
	if len(all)-len(has) > lacks {
		t.Errorf("%s.json, %q: %q lacks an argument", code, key, form)
	}
}
