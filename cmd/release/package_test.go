package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

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
		names, err := filepath.Glob(filepath.Join(root, "etc/systemd/system/*/*"))
		testkit.Must(t, err)
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
		if got := links(); got != want {
			t.Errorf("%s: enabled are\n%s\nwant\n%s", step, got, want)
		}
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
