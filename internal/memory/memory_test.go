package memory

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"hdqs/internal/testkit"
)

// TestCgroupLimit finds the limits of testdata/cgroups.txt.
func TestCgroupLimit(t *testing.T) {
	archive := testkit.Value(txtar.ParseFile("testdata/cgroups.txt"))(t)
	cases, root, want := 0, "", ""
	check := func() {
		limit, err := limitBelow(root)
		got := fmt.Sprint(limit.Bytes, " ", limit.Source)
		switch {
		case err != nil:
			got = "fault " + err.Error()
		case limit == (Limit{}):
			got = "none"
		}
		testkit.Equal(t, got, want, "case %d", cases)
	}
	for _, f := range append(archive.Files, txtar.File{Name: "case"}) {
		if !strings.HasPrefix(f.Name, "case") {
			testkit.WriteFile(t, filepath.Join(root, f.Name), f.Data)
			continue
		}
		if root != "" {
			check()
		}
		cases, root, want = cases+1, t.TempDir(), strings.TrimSpace(string(f.Data))
	}
	testkit.AtLeast(t, cases, 11, "cases")
}

// FuzzHierarchies: any content of the two files gives paths below a mount, and no panic.
func FuzzHierarchies(f *testing.F) {
	f.Add("4:memory:/a/b\n0::/\n", "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"+
		"41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n")
	f.Add("0::/../other\n", "41 31 0:38 /docker/a /sys/fs/c\\040g ro - cgroup2 cgroup2 rw\n")
	f.Add("0::\n:::\n", "\\777 - \\ - -\n")
	f.Fuzz(func(t *testing.T, groups, mounts string) {
		for _, h := range hierarchies([]byte(groups), []byte(mounts)) {
			if !strings.HasPrefix(h.group, "/") || strings.Contains(h.group+"/", "/../") {
				t.Errorf("group %q of mount %q", h.group, h.mount)
			}
		}
	})
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "123456789": 123456789, "512B": 512, "64KiB": 64 << 10, "512MiB": 512 << 20, "1.5GiB": 3 << 29,
		"2 GiB": 2 << 30, "2G": 2 << 30, "2GB": 2 << 30, "512M": 512 << 20, "1 KB": 1 << 10, "7 B": 7,
		" 1TiB ": 1 << 40,
	} {
		testkit.Equal(t, testkit.Value(ParseSize(text))(t), want, "ParseSize(%q)", text)
	}
	for _, text := range []string{
		"", "MiB", "-1", "-1MiB", "1e3", "0x10", "512MBB", "512m", "2GM", "2BG", "1.2.3GiB", "inf", "NaN", "9e99",
		"9000000TiB",
	} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		} else if !strings.Contains(err.Error(), "KiB, MiB, GiB") {
			t.Errorf("ParseSize(%q): %v names no units", text, err)
		}
	}
	for bytes, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 231211008: "220.5 MiB", 3 << 29: "1.5 GiB",
	} {
		testkit.Equal(t, Size(bytes), want, "Size(%d) =", bytes)
	}
}
