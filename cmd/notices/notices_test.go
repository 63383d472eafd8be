package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

const (
	program = "../hdqs"
	file    = "../hdqs/third_party.txt"
)

// maxModules bounds how many modules hdqs links; cmd/hdqs/third_party.txt lists them. The plan of
// the project allowed 25. It did not count what the S3 client brings: github.com/minio/minio-go
// alone needs 16 others, for checksums, credentials and XML that the program would otherwise have
// to write itself. 17 modules serve buckets, so, and 25 everything else. A module that is worth
// more than this bound raises it here, with the reason; progressbar, with three others, is the
// first that could go. prometheus/client_golang brought seven: metrics that every monitoring system
// reads, with those of the Go runtime and of the process. coreos/go-systemd brought one: sockets,
// notifications and the watchdog of systemd. parquet-go brought six, for Parquet files, and
// google/flatbuffers one: the messages of Arrow streams, of which arrow-go would have brought six.
// excelize brought six: the workbook of the national risk index, instead of 460 lines. The go-sdk
// of MCP brought seven: five revisions of a protocol, each with its own transport and errors.
// go-text/typesetting and golang.org/x/image draw pictures with letters of all scripts, where
// tdewolff/canvas would have brought twenty, among them clients of the X server. On Windows cobra
// links mousetrap.
const maxModules = 65

// TestThirdParty fails when the list of modules, or the text of a licence, is not what the program
// is linked with.
func TestThirdParty(t *testing.T) {
	t.Parallel()
	modules := testkit.Value(linked(program))(t)
	if n := len(modules) - 1; n > maxModules { // the first one is Go itself
		t.Errorf("%d modules are linked into hdqs, more than %d: see maxModules", n, maxModules)
	}
	packages := testkit.Value(vendored(program + "/" + webOfCommand))(t)
	want := testkit.Value(notices(append(modules, packages...)))(t)
	got := testkit.ReadFile(t, file)
	if !bytes.Equal(got, want) {
		t.Errorf("third_party.txt is stale, run: go generate ./cmd/hdqs\n%s", difference(string(got), string(want)))
	}
}

// difference names the first lines that two texts do not share.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "has:   " + g[i] + "\nwants: " + w[i]
		}
	}
	return "one of them ends early"
}

// TestLinkedLibraries: the program stands on these, in the binary and not only in its tests.
func TestLinkedLibraries(t *testing.T) {
	t.Parallel()
	out := testkit.Value(exec.Command("go", "list", "-deps", program).Output())(t)
	packages := strings.Fields(string(out))
	for _, want := range []string{
		"github.com/RoaringBitmap/roaring/v2",
		"github.com/klauspost/compress/gzip", "github.com/klauspost/compress/zstd",
		"github.com/valyala/fasthttp", "github.com/fasthttp/router",
	} {
		if !slices.Contains(packages, want) {
			t.Errorf("hdqs is not linked with %s", want)
		}
	}
}

func TestKindsOf(t *testing.T) {
	t.Parallel()
	const mit = "Permission is hereby granted,\nfree of charge, to any person obtaining a copy"
	const bsd = "Redistribution and use in source and\nbinary forms, with or without modification"
	for _, c := range []struct{ text, want string }{
		{mit, "MIT"},
		{bsd, "BSD-2-Clause"},
		{bsd + " nor the names of its\n contributors may be used to endorse", "BSD-3-Clause"},
		{"Apache License\n Version 2.0, and: " + mit, "Apache-2.0 MIT"},
		{"GNU GENERAL PUBLIC LICENSE", ""},
		{"", ""},
	} {
		testkit.Equal(t, strings.Join(kindsOf(c.text), " "), c.want, "%q", c.text)
	}
}

func TestUnknownLicence(t *testing.T) {
	t.Parallel()
	_, err := notices([]module{{path: "example.org/m", version: "v1.0.0"}})
	if err == nil || !strings.Contains(err.Error(), "example.org/m v1.0.0") {
		t.Errorf("a module without a licence: %v", err)
	}
}

func TestIsNotice(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"LICENSE": true, "LICENSE.txt": true, "license.md": true, "LICENCE": true, "COPYING": true,
		"NOTICE": true, "LICENSE-MIT": true, "LICENSE.Golang": true, "PATENTS": true,
		"licenses.go": false, "README.md": false, "license_test.go": false,
	} {
		testkit.Equal(t, isNotice(name), want, "isNotice(%q)", name)
	}
}
