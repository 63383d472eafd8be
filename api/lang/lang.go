package lang

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
	"golang.org/x/text/number"
)

//go:embed *.json
var files embed.FS

// Language is a language of pages. Nil is English.
type Language struct {
	Code string // such as fr; of the attribute lang
	Name string // in the language itself
	Dir  string // ltr, or rtl
	Path string // between the prefix of a mount and the path of a page, such as /fr; empty for English

	at int // in All
}

// content is what the file of a language has.
type content struct {
	tag     language.Tag
	texts   map[string]string // without those that depend on a number
	printer *message.Printer
	regions display.Namer
	decimal string            // mark
	said    map[string]string // what the interface says, by its format in English

	countries map[string]string
	groups    map[string]string // of countries, by slug
}

var all = []*Language{
	{Code: "en", Name: "English", Dir: "ltr"},
	{Code: "fr", Name: "Français", Dir: "ltr", Path: "/fr", at: 1},
	{Code: "es", Name: "Español", Dir: "ltr", Path: "/es", at: 2},
	{Code: "ar", Name: "العربية", Dir: "rtl", Path: "/ar", at: 3},
}

// All are the languages, English first. Nobody may change them.
func All() []*Language { return all }

// contents are what the files of all languages have. They are read at the first text, which is
// after the first answer of a server: that takes 20 ms.
var contents = sync.OnceValue(func() []content {
	messages, read := catalog.NewBuilder(catalog.Fallback(language.English)), make([]content, len(all))
	for i, l := range all {
		read[i].read(l, messages)
	}
	return read
})

// own is what the language's file has.
func (l *Language) own() *content { return &contents()[l.or().at] }

// read reads the file of a language.
func (c *content) read(l *Language, messages *catalog.Builder) {
	c.tag, c.texts = language.Make(l.Code), map[string]string{}
	source, err := files.ReadFile(l.Code + ".json")
	if err != nil {
		panic(err) // it is part of the program
	}
	var file struct {
		Texts map[string]any    // plain ones, or forms by plural category
		Said  map[string]string // sentences of the interface

		Countries map[string]string // names of the UN where those of CLDR differ, by code
		Groups    map[string]string // names of groups of countries, by slug
	}
	if err := json.Unmarshal(source, &file); err != nil {
		panic(l.Code + ".json: " + err.Error())
	}
	c.countries, c.groups, c.said = file.Countries, file.Groups, file.Said
	for key, value := range file.Texts {
		switch value := value.(type) {
		case string:
			if c.texts[key] = value; strings.Contains(key+value, "%") { // others have no arguments
				err = messages.SetString(c.tag, key, value)
			}
		case map[string]any:
			var cases []any
			for _, form := range slices.Sorted(maps.Keys(value)) {
				if form != "other" {
					cases = append(cases, form, value[form])
				}
			}
			err = messages.Set(c.tag, key, plural.Selectf(1, "%d", append(cases, "other", value["other"])...))
		}
		if err != nil {
			panic(fmt.Sprintf("%s.json, %q: %v", l.Code, key, err))
		}
	}
	c.printer = message.NewPrinter(c.tag, message.Catalog(messages))
	c.regions = display.Regions(c.tag)
	half := message.NewPrinter(language.Make(l.Code + "-u-nu-latn")).Sprint(number.Decimal(0.5))
	c.decimal = strings.Trim(half, "05")
}

// or is the language, English for nil.
func (l *Language) or() *Language {
	if l == nil {
		return all[0]
	}
	return l
}

// IsEnglish reports whether the language is the source of all others.
func (l *Language) IsEnglish() bool { return l.or().Path == "" }

// IsRTL reports whether the language is written from right to left.
func (l *Language) IsRTL() bool { return l.or().Dir == "rtl" }

// T is a text in the language, with arguments as fmt has them. The form of a text that has several
// depends on the first argument, a Count.
func (l *Language) T(key string, args ...any) string {
	if len(args) > 0 {
		return l.own().printer.Sprintf(key, l.isolatedIn(args)...)
	}
	if text, known := l.own().texts[key]; known {
		return text
	}
	return key
}

// fromLeft is what is written from left to right, also among words that are not: without isolation
// a day such as 2024-05-31 would be read as 31-05-2024.
var fromLeft = regexp.MustCompile(`[A-Za-z]|\d-\d`)

// isolated is a text as it stands among words from right to left.
func isolated(text string) string {
	if !fromLeft.MatchString(text) || strings.Contains(text, "\u2068") {
		return text
	}
	return "\u2068" + text + "\u2069"
}

// isolatedIn are the arguments of a text as they stand in a language.
func (l *Language) isolatedIn(args []any) []any {
	if !l.IsRTL() {
		return args
	}
	args = slices.Clone(args)
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = isolated(text)
		}
	}
	return args
}

// List is some texts with commas between them.
func (l *Language) List(texts []string) string {
	if l.IsRTL() {
		texts = slices.Clone(texts)
		for i, text := range texts {
			texts[i] = isolated(text)
		}
	}
	return strings.Join(texts, l.T(",")+" ")
}

// inTemplate is a text in a template.
var inTemplate = regexp.MustCompile(`(?s)\[\[(.+?)\]\]`)

// oneLine has one blank between words, as keys do.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Template is the source of a template with its texts in the language.
func (l *Language) Template(source string) string {
	return inTemplate.ReplaceAllStringFunc(source, func(found string) string {
		text := found[2 : len(found)-2]
		if told, known := l.own().texts[oneLine(text)]; known {
			return told
		}
		return text
	})
}

// Group is the name of a group of countries with a slug, which is known where the list of countries
// makes the group. name is that in English, or that of an operator's own.
func (l *Language) Group(slug, name string) string {
	if text, known := l.own().groups[slug]; known {
		return text
	}
	return name
}

// Country is the name of a country with a code of ISO 3166. name is that which the data have: it is
// that of the UN in English, and that of the pages where no other is known.
func (l *Language) Country(code, name string) string {
	if l.IsEnglish() {
		return name
	}
	if text, known := l.own().countries[code]; known {
		return text
	}
	region, err := language.ParseRegion(code)
	if err != nil || len(code) != len("AFG") || !region.IsCountry() {
		return name
	}
	if text := l.own().regions.Name(region); text != "" {
		return text
	}
	return name
}
