//go:build !race

package api_test

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// textCase is a request of testdata/http/*.txt and what its answer must be. Its lines are
//
//	request METHOD TARGET     the request; $ID is a valid identifier
//	header NAME: VALUE        sent with it; $TAG is the tag of the answer without it
//	mode require|observe|off  how the server treats identifiers
//	rows N                    how many records each list has, in place of a few
//	figures                   the lists are those of FigureTables
//	status CODE
//	has NAME: VALUE           a header field of the answer
//	has NAME: $TAG            any of our entity tags
//	lacks NAME                a header field that must be absent
//	only NAMES                all fields of the answer except those of the connection
//	revalidates               a request with the answer's tag gets 304 and that tag
//	body TEXT                 the whole body; in Go quotes when it begins with one
//	contains TEXT             a part of the body
//	without TEXT              no part of the body
type textCase struct {
	name           string
	method, target string
	header         []reply.HeaderField
	mode           string
	rows           int
	figures        bool
	status         int
	has            []reply.HeaderField
	lacks          []string
	only           []string
	revalidates    bool
	body           *string
	contains       []string
	without        []string
}

func readTextCases(t *testing.T, name string) []textCase {
	file, err := os.Open(name)
	testkit.Must(t, err)
	defer file.Close()
	var cases []textCase
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		rest = strings.ReplaceAll(rest, "$ID", apitest.Identifier)
		if word == "request" {
			method, target, _ := strings.Cut(rest, " ")
			cases = append(cases, textCase{
				name: fmt.Sprintf("%s:%d", filepath.Base(name), number), method: method,
				target: target,
			})
			continue
		}
		if word == "" || word == "#" {
			continue
		}
		c := &cases[len(cases)-1]
		switch word {
		case "header":
			c.header = append(c.header, headerField(rest))
		case "mode":
			c.mode = rest
		case "rows":
			if c.rows, err = strconv.Atoi(rest); err != nil {
				t.Fatalf("%s:%d: %v", name, number, err)
			}
		case "figures":
			c.figures = true
		case "status":
			if c.status, err = strconv.Atoi(rest); err != nil {
				t.Fatalf("%s:%d: %v", name, number, err)
			}
		case "has":
			c.has = append(c.has, headerField(rest))
		case "lacks":
			c.lacks = append(c.lacks, rest)
		case "only":
			c.only = strings.Fields(rest)
		case "revalidates":
			c.revalidates = true
		case "body":
			if strings.HasPrefix(rest, `"`) {
				if rest, err = strconv.Unquote(rest); err != nil {
					t.Fatalf("%s:%d: %v", name, number, err)
				}
			}
			c.body = &rest
		case "contains":
			c.contains = append(c.contains, rest)
		case "without":
			c.without = append(c.without, rest)
		default:
			t.Fatalf("%s:%d: unknown word %q", name, number, word)
		}
	}
	return cases
}

func headerField(line string) reply.HeaderField {
	name, value, _ := strings.Cut(line, ": ")
	return reply.HeaderField{Name: name, Value: value}
}

// TestTextCases runs every case twice, over TCP and by Answer, and compares the two answers.
func TestTextCases(t *testing.T) {
	t.Parallel()
	modes := map[string]state.IdentifierMode{
		"": state.RequireIdentifier, "require": state.RequireIdentifier,
		"observe": state.ObserveIdentifier, "off": state.IgnoreIdentifier,
	}
	servers, addresses := map[string]*api.Server{}, map[string]string{}
	serve := func(c *textCase) (s *api.Server, address string) {
		key := fmt.Sprint(c.mode, c.rows, c.figures)
		if servers[key] == nil {
			o := state.Options{Identifier: modes[c.mode]}
			if servers[key] = apitest.Sample(t, o, cmp.Or(c.rows, apitest.TextCaseRows)); c.figures {
				servers[key] = apitest.Server(t, o, apitest.FigureTables(t))
			}
			addresses[key] = apitest.Listen(t, servers[key])
		}
		return servers[key], addresses[key]
	}
	files, err := filepath.Glob("testdata/http/*.txt")
	if err != nil || len(files) < 5 {
		t.Fatalf("found %d files: %v", len(files), err)
	}
	ran := 0
	for _, file := range files {
		for _, c := range readTextCases(t, file) {
			ran++
			t.Run(c.name, func(t *testing.T) {
				server, address := serve(&c)
				for i, f := range c.header {
					if strings.Contains(f.Value, "$TAG") {
						tag := apitest.Header(server.Answer(c.method, c.target, nil), "ETag")
						c.header[i].Value = strings.ReplaceAll(f.Value, "$TAG", tag)
					}
				}
				local := server.Answer(c.method, c.target,
					append(apitest.Fields("Host", "test.example"), c.header...))
				remote := apitest.Ask(t, address, c.method, c.target, c.header)
				c.check(t, "Answer", local)
				c.check(t, "HTTP", remote)
				if c.revalidates {
					c.checkRevalidation(t, server, local)
				}
				if string(local.Body) != string(remote.Body) {
					t.Errorf("Answer and HTTP send different bodies: %q, %q", local.Body, remote.Body)
				}
				if l, r := apitest.SortedHeader(local.Header), apitest.SortedHeader(remote.Header); !slices.Equal(l,
					r) {
					t.Errorf("Answer and HTTP send different headers:\n%q\n%q", l, r)
				}
			})
		}
	}
	testkit.AtLeast(t, ran, 50, "cases")
}

func (c *textCase) check(t *testing.T, by string, got api.Answer) {
	t.Helper()
	testkit.Equal(t, got.Status, c.status, "%s: status; body %q", by, got.Body)
	for _, want := range c.has {
		if value, ok := apitest.Field(got, want.Name); !ok || value != want.Value &&
			!(want.Value == "$TAG" && tagForm.MatchString(value)) {
			t.Errorf("%s: %s: %q, want %q", by, want.Name, value, want.Value)
		}
	}
	if c.only != nil {
		var names []string
		for _, f := range apitest.SortedHeader(got.Header) {
			name, _, _ := strings.Cut(f, ":")
			names = append(names, name)
		}
		names = slices.Compact(names)
		if want := strings.Fields(strings.ToLower(strings.Join(c.only, " "))); !slices.Equal(names, want) {
			t.Errorf("%s: header fields\n%v\nwant\n%v", by, names, want)
		}
	}
	for _, name := range c.lacks {
		if value, ok := apitest.Field(got, name); ok {
			t.Errorf("%s: unexpected %s: %q", by, name, value)
		}
	}
	if c.body != nil && string(got.Body) != *c.body {
		t.Errorf("%s: body\n%s\nwant\n%s", by, got.Body, *c.body)
	}
	for _, part := range c.contains {
		testkit.Contains(t, got.Body, part, "%s: body", by)
	}
	for _, part := range c.without {
		testkit.Lacks(t, got.Body, part, "%s: body", by)
	}
}

var tagForm = regexp.MustCompile(`^(W/)?"[A-Za-z0-9_-]{22}"$`)

func (c *textCase) checkRevalidation(t *testing.T, s *api.Server, first api.Answer) {
	t.Helper()
	tag, _ := apitest.Field(first, "ETag")
	again := s.Answer(c.method, c.target,
		append(apitest.Fields("Host", "test.example", "If-None-Match", tag),
			c.header...))
	if again.Status != 304 || len(again.Body) > 0 {
		t.Errorf("revalidated with %s: %d, %d bytes", tag, again.Status, len(again.Body))
	}
	for _, name := range []string{
		"ETag", "Cache-Control", "Vary", "Last-Modified", "X-Snapshot-Id",
		"Access-Control-Allow-Origin",
	} {
		before, _ := apitest.Field(first, name)
		if after, _ := apitest.Field(again, name); before != after {
			t.Errorf("revalidated: %s is %q, was %q", name, after, before)
		}
	}
}
