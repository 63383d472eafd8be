package memory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// The lines of mountinfo that the tests share.
const (
	rootMount = "23 1 0:20 / / rw - ext4 /dev/root rw\n"
	v1Mount   = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
	v2Mount   = "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
)

func TestCgroupLimit(t *testing.T) {
	for name, c := range map[string]struct {
		groups, mounts string
		files          map[string]string
		want           Limit
		fault          string
	}{
		"no control groups": {},
		"version 2, own group": {
			"0::/system.slice/hdqs.service\n", rootMount + v2Mount,
			map[string]string{"/sys/fs/cgroup/system.slice/hdqs.service/memory.max": "536870912\n"},
			Limit{536870912, "/sys/fs/cgroup/system.slice/hdqs.service/memory.max"},
			"",
		},
		"version 2, a group around it is smaller": {
			"0::/a/b/c\n", v2Mount,
			map[string]string{
				"/sys/fs/cgroup/a/b/c/memory.max": "max\n", "/sys/fs/cgroup/a/b/memory.max": "900000\n",
				"/sys/fs/cgroup/a/memory.max": "700000\n",
			},
			Limit{700000, "/sys/fs/cgroup/a/memory.max"},
			"",
		},
		"version 2, in a container": {
			"0::/\n", "41 31 0:38 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n",
			map[string]string{"/sys/fs/cgroup/memory.max": "1073741824\n"},
			Limit{1073741824, "/sys/fs/cgroup/memory.max"},
			"",
		},
		"version 2, no limit": {
			"0::/a\n", v2Mount, map[string]string{"/sys/fs/cgroup/a/memory.max": "max\n"}, Limit{}, "",
		},
		"version 2, in a group that is not mounted": {
			"0::/../other\n", "41 31 0:38 /docker/a /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n",
			map[string]string{"/sys/fs/cgroup/memory.max": "800000\n"},
			Limit{800000, "/sys/fs/cgroup/memory.max"},
			"",
		},
		"version 1": {
			"5:cpu,cpuacct:/x\n4:memory:/a/b\n0::/\n", v1Mount,
			map[string]string{
				"/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "209715200\n",
				"/sys/fs/cgroup/memory/memory.limit_in_bytes":     "9223372036854771712\n",
			},
			Limit{209715200, "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes"},
			"",
		},
		"version 1, in a container": {
			"4:memory:/docker/abc\n", "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "209715200\n"},
			Limit{209715200, "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
			"",
		},
		"version 1, no limit, and version 2 without the controller": {
			"4:memory:/a\n0::/\n", v1Mount + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			map[string]string{"/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n"},
			Limit{},
			"",
		},
		"a name with a space and one with a colon": {
			"0::/a b/c:d\n", "41 31 0:38 / /mnt/c\\040g rw - cgroup2 cgroup2 rw\n",
			map[string]string{"/mnt/c g/a b/c:d/memory.max": "123456789\n"},
			Limit{123456789, "/mnt/c g/a b/c:d/memory.max"},
			"",
		},
		"a file with other content": {
			"0::/a\n", v2Mount,
			map[string]string{"/sys/fs/cgroup/a/memory.max": "lots\n"},
			Limit{},
			`/sys/fs/cgroup/a/memory.max: "lots" is no limit of memory`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write := func(file, content string) {
				path := filepath.Join(root, file)
				testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
				testkit.Must(t, os.WriteFile(path, []byte(content), 0o600))
			}
			if c.groups != "" {
				write("proc/self/cgroup", c.groups)
				write("proc/self/mountinfo", c.mounts)
			}
			for file, content := range c.files {
				write(file, content)
			}
			got, err := limitBelow(root)
			if c.fault != "" {
				if err == nil || err.Error() != c.fault {
					t.Errorf("error %v, want %s", err, c.fault)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

// FuzzHierarchies: any content of the two files gives paths below a mount, and no panic.
func FuzzHierarchies(f *testing.F) {
	f.Add("4:memory:/a/b\n0::/\n", rootMount+v1Mount+v2Mount)
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
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
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
		if got := Size(bytes); got != want {
			t.Errorf("Size(%d) = %q, want %q", bytes, got, want)
		}
	}
}
