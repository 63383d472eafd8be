package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// TestRelease packs a small program and reads everything back. What it writes twice is equal.
func TestRelease(t *testing.T) {
	t.Parallel()
	source, out := t.TempDir(), t.TempDir()
	testkit.WriteFile(t, filepath.Join(source, "main.go"), []byte("package main\n\nfunc main() {}\n"))
	binary := filepath.Join(source, "hdqs")
	build := exec.Command("go", "build", "-o", binary, filepath.Join(source, "main.go"))
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	const version = "1.2.3+20261128.120000"
	r := release{version: version, commit: "abc", made: time.Unix(1700000000, 0).UTC(), machine: "amd64"}
	for _, r.system = range []string{"linux", "windows"} {
		testkit.Must(t, r.write(binary, out, []string{"testdata/folder/run.sh"}))
		again := t.TempDir()
		testkit.Must(t, r.write(binary, again, []string{"testdata/folder/run.sh"}))
		names, err := os.ReadDir(again)
		if err != nil || len(names) < 3 {
			t.Fatalf("%v, %v", names, err)
		}
		for _, name := range names {
			one, two := filepath.Join(out, name.Name()), filepath.Join(again, name.Name())
			if !bytes.Equal(testkit.ReadFile(t, one), testkit.ReadFile(t, two)) {
				t.Errorf("%s differs", name.Name())
			}
		}
	}
	program := testkit.ReadFile(t, binary)
	const name = "hdqs_" + version + "_linux_amd64"
	packed, err := gzip.NewReader(bytes.NewReader(testkit.ReadFile(t, filepath.Join(out, name+".tar.gz"))))
	testkit.Must(t, err)
	files := untar(t, packed)
	if got := files[name+"/hdqs"]; !bytes.Equal(got, program) {
		t.Errorf("tar.gz: the program has %d bytes, want %d", len(got), len(program))
	}
	if got := files[name+"/testdata/folder/run.sh"]; len(got) == 0 {
		t.Errorf("tar.gz: files are not below their folders: %v", slices.Sorted(maps.Keys(files)))
	}
	archive := testkit.Value(zip.OpenReader(filepath.Join(out, "hdqs_"+version+"_windows_amd64.zip")))(t)
	defer archive.Close()
	if f := archive.File[2]; !strings.HasSuffix(f.Name, "amd64/testdata/folder/run.sh") || f.Mode() != 0o755 {
		t.Errorf("zip: %+v", f.FileHeader)
	}
	if f := archive.File[1]; f.UncompressedSize64 != uint64(len(program)) || f.Mode() != 0o755 {
		t.Errorf("zip: %+v", f.FileHeader)
	}
	image := testkit.ReadFile(t, filepath.Join(out, name+"_image.tar"))
	checkImage(t, untar(t, bytes.NewReader(image)), program)
}

// checkImage follows the digests from the index to the program.
func checkImage(t *testing.T, files map[string][]byte, program []byte) {
	t.Helper()
	type reference struct {
		Digest string
		Size   int
	}
	follow := func(from reference, into any) {
		t.Helper()
		data := files["blobs/"+strings.Replace(from.Digest, ":", "/", 1)]
		if digest(data) != from.Digest || len(data) != from.Size {
			t.Fatalf("%s has %d bytes, want %d", from.Digest, len(data), from.Size)
		}
		if into != nil {
			testkit.Must(t, json.Unmarshal(data, into))
		}
	}
	var index struct{ Manifests []reference }
	testkit.Must(t, json.Unmarshal(files["index.json"], &index))
	var manifest struct {
		Config reference
		Layers []reference
	}
	follow(index.Manifests[0], &manifest)
	var config struct {
		Config struct{ User string }
		RootFS struct {
			Layers []string `json:"diff_ids"`
		}
	}
	follow(manifest.Config, &config)
	follow(manifest.Layers[0], nil)
	var legacy []struct{ Layers, RepoTags []string }
	testkit.Must(t, json.Unmarshal(files["manifest.json"], &legacy))
	if got := legacy[0].RepoTags; !slices.Equal(got, []string{"hdqs:1.2.3-20261128.120000"}) {
		t.Errorf("tags %q: a tag of an image has no +", got)
	}
	unpacked := testkit.Value(gzip.NewReader(bytes.NewReader(files[legacy[0].Layers[0]])))(t)
	layer, err := io.ReadAll(unpacked)
	if err != nil || digest(layer) != config.RootFS.Layers[0] || config.Config.User != "65532:65532" {
		t.Errorf("%v, config %+v", err, config)
	}
	in := untar(t, bytes.NewReader(layer))
	if !bytes.Equal(in["usr/bin/hdqs"], program) ||
		bytes.Count(in["etc/ssl/certs/ca-certificates.crt"], []byte("BEGIN CERTIFICATE")) < 50 {
		t.Error("the layer lacks the program or certificates")
	}
}

func untar(t *testing.T, from io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		testkit.Must(t, err)
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPackageRemoval runs the scripts of the packages as dpkg and rpm do, on units in another root.
// That they stop and start what runs is checked by .ci/package-machine, as a part of release-check.
func TestPackageRemoval(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	systemctl := testkit.Program(t, "systemctl", "systemd")
	units, err := filepath.Glob("../../deploy/systemd/*.*")
	if err != nil || len(units) < 8 {
		t.Fatalf("%v, %v", units, err)
	}
	for _, unit := range units {
		to := filepath.Join(root, "usr/lib/systemd/system", filepath.Base(unit))
		testkit.WriteFile(t, to, testkit.ReadFile(t, unit))
	}
	testkit.Must(t, os.MkdirAll(filepath.Join(root, "var/lib"), 0o755))
	run := func(name string, arguments ...string) {
		t.Helper()
		cmd := exec.Command(name, arguments...)
		cmd.Env = append(os.Environ(), "DPKG_ROOT="+root)
		if out, err := cmd.CombinedOutput(); err != nil || name != systemctl && len(out) > 0 {
			t.Fatalf("%s %v: %v\n%s", name, arguments, err, out)
		}
	}
	script := func(name, argument string) { t.Helper(); run("/bin/sh", "../../deploy/package/"+name, argument) }
	links := func() string {
		names := testkit.Value(filepath.Glob(filepath.Join(root, "etc/systemd/system/*/*")))(t)
		slices.Sort(names)
		return strings.ReplaceAll(strings.Join(names, "\n"), root, "")
	}
	run(systemctl, "--root="+root, "enable", "hdqs@8080.socket", "hdqs@8080", "hdqs@8090.socket", "hdqs@8090",
		"hdqs-build.timer", "hdqs-gc.timer")
	// An own unit, which is not the package's.
	const own = "etc/systemd/system/multi-user.target.wants/hdqs-own.service"
	testkit.Must(t, os.Symlink("/etc/systemd/system/hdqs-own.service", filepath.Join(root, own)))
	enabled := links()
	if strings.Count(enabled, "\n") != 6 {
		t.Fatalf("enabled:\n%s", enabled)
	}
	check := func(step, want string) {
		t.Helper()
		testkit.Equal(t, links(), want, "%s: enabled are\nwant", step)
	}
	for _, c := range []struct{ system, update, remove, again string }{
		{"dpkg", "upgrade", "remove", "configure"}, {"rpm", "1", "0", "1"},
	} {
		script("removing.sh", c.update)
		script("removed.sh", c.update)
		script("installed.sh", c.again)
		check(c.system+" update", enabled)
		script("removing.sh", c.remove)
		script("removed.sh", c.remove)
		check(c.system+" removal", "/"+own)
		script("installed.sh", c.again)
		check(c.system+" installed again", enabled)
		script("installed.sh", c.again)
		check(c.system+" update after that", enabled)
	}
	script("removing.sh", "remove")
	script("removed.sh", "purge")
	script("installed.sh", "configure")
	check("installed after a purge", "/"+own)
}
