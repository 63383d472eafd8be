package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

const head = `hdqs is under the MIT License; its text is the file LICENSE of the source. This file holds the licences of
what the program is linked with, and says where the facts come from that it embeds.
Made by "go generate ./cmd/hdqs". DO NOT EDIT.

`

// facts are the lists that the program embeds, and the sample catalog is made from.
const facts = `Lists of facts
  countries             codes of ISO 3166-1, names of UN M49; response plans and dates of the country list
                        that OCHA keeps for the humanitarian data exchange
  organisation types    codes and names that the HDX HAPI service publishes
  sectors               codes and names that the HDX HAPI service publishes
  currencies            codes of ISO 4217 with common English names; in the sample only
Everything else in the sample is made up.
`

const redistribution = "Redistribution and use in source and binary forms"

// kinds are the licences that may be linked, each with words that only it has. Others need a
// decision first.
var kinds = []struct {
	name  string
	words []string
}{
	{"Apache-2.0", []string{"Apache License", "Version 2.0"}},
	{"MPL-2.0", []string{"Mozilla Public License Version 2.0"}},
	{"BSD-3-Clause", []string{redistribution, "contributors may be used to endorse"}},
	{"BSD-2-Clause", []string{redistribution}},
	{"OFL-1.1", []string{"SIL Open Font License, Version 1.1", "obtaining a copy of the Font Software"}},
	{"MIT", []string{"Permission is hereby granted, free of charge, to any person obtaining a copy"}},
	{"ISC", []string{"Permission to use, copy, modify, and/or distribute this software"}},
}

// within are licences whose words are also in a longer one.
var within = map[string]string{"BSD-2-Clause": "BSD-3-Clause", "MIT": "OFL-1.1"}

// kindsOf names the known licences in a text.
func kindsOf(text string) []string {
	text = strings.Join(strings.Fields(text), " ")
	var names []string
	for _, kind := range kinds {
		missing := slices.ContainsFunc(kind.words, func(words string) bool { return !strings.Contains(text, words) })
		if !missing && !slices.Contains(names, within[kind.name]) {
			names = append(names, kind.name)
		}
	}
	return names
}

// notices is a table of the modules with their licences, and below it the texts.
func notices(modules []module) ([]byte, error) {
	var table, texts bytes.Buffer
	rows := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	printed := map[string]string{} // texts, and the module they were printed with
	for _, m := range modules {
		found := map[string]bool{}
		fmt.Fprintf(&texts, "\n%s\n%s\n", strings.Repeat("=", 80), strings.TrimSpace(m.path+" "+m.version))
		for _, file := range m.files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
			for _, kind := range kindsOf(text) {
				found[kind] = true
			}
			name, err := filepath.Rel(m.dir, file)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&texts, "\n--- %s\n\n", filepath.ToSlash(name))
			if first, ok := printed[text]; ok {
				fmt.Fprintf(&texts, "The same text as that of %s.\n", first)
				continue
			}
			printed[text] = m.path + ", " + filepath.ToSlash(name)
			fmt.Fprintln(&texts, text)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("module %s %s: cmd/notices knows no licence among %q: read them, then add the kind",
				m.path, m.version, m.files)
		}
		fmt.Fprintf(rows, "  %s\t%s\t%s\n", m.path, m.version, strings.Join(sortedKeys(found), ", "))
	}
	if err := rows.Flush(); err != nil {
		return nil, err
	}
	return slices.Concat([]byte(head+"Linked modules\n"), table.Bytes(), []byte("\n"+facts), texts.Bytes()), nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
