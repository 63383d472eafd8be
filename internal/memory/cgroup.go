package memory

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Limit is a bound on the memory of the process.
type Limit struct {
	Bytes  int64  // 0: none
	Source string // the file that sets it
}

// unlimited is the least number that version 1 writes for no limit: the largest multiple of a page
// in 63 bits, for pages of up to 64 KiB.
const unlimited = 1<<63 - 1<<16

// CgroupLimit returns the limit of the process's control groups. It has no bytes if no group has a
// limit, or if the system has no control groups.
func CgroupLimit() (Limit, error) { return limitBelow("/") }

// limitBelow is CgroupLimit with another directory as the root of the file system.
func limitBelow(root string) (least Limit, err error) {
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if errors.Is(err, fs.ErrNotExist) {
		return Limit{}, nil
	}
	if err != nil {
		return Limit{}, err
	}
	mounts, err := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil {
		return Limit{}, err
	}
	for _, h := range hierarchies(groups, mounts) {
		for dir := h.group; ; dir = path.Dir(dir) {
			l, err := readLimit(root, path.Join(h.mount, dir, h.file))
			if err != nil {
				return Limit{}, err
			}
			if l.Bytes > 0 && (least.Bytes == 0 || l.Bytes < least.Bytes) {
				least = l
			}
			if dir == "/" {
				break
			}
		}
	}
	return least, nil
}

// readLimit reads a file with a limit. A missing one, such as that of the root group in version 2,
// is no limit.
func readLimit(root, name string) (Limit, error) {
	data, err := os.ReadFile(filepath.Join(root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return Limit{}, nil
	}
	if err != nil {
		return Limit{}, err
	}
	text := strings.TrimSpace(string(data))
	if text == "max" {
		return Limit{}, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return Limit{}, fmt.Errorf("%s: %q is no limit of memory", name, text)
	}
	if n >= unlimited {
		return Limit{}, nil
	}
	return Limit{Bytes: max(1, int64(n)), Source: name}, nil
}

// hierarchy is a mounted tree of control groups that limits memory.
type hierarchy struct {
	mount string // where it is mounted
	group string // of the process, from there
	file  string // with the limit of a group
}

// hierarchies returns the trees that limit the memory of a process: the one of version 2, and that
// of the memory controller of version 1.
func hierarchies(groups, mounts []byte) (found []hierarchy) {
	var of [3]string // the group of the process by version; empty without one
	for line := range bytes.Lines(groups) {
		// hierarchy:controllers:group, with 0 and no controllers in version 2
		fields := strings.SplitN(strings.TrimSuffix(string(line), "\n"), ":", 3)
		switch {
		case len(fields) != 3:
		case fields[0] == "0" && fields[1] == "":
			of[2] = fields[2]
		case slices.Contains(strings.Split(fields[1], ","), "memory"):
			of[1] = fields[2]
		}
	}
	lines := bufio.NewScanner(bytes.NewReader(mounts))
	for lines.Scan() {
		// id parent device root mount options [tags...] - type source options
		before, after, _ := strings.Cut(lines.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if len(left) < 6 || len(right) < 3 {
			continue
		}
		h, version := hierarchy{mount: unescape(left[4])}, 0
		switch {
		case right[0] == "cgroup2":
			version, h.file = 2, "memory.max"
		case right[0] == "cgroup" && slices.Contains(strings.Split(right[2], ","), "memory"):
			version, h.file = 1, "memory.limit_in_bytes"
		default:
			continue
		}
		if of[version] == "" {
			continue
		}
		h.group = within(unescape(left[3]), of[version])
		found = append(found, h)
	}
	return found
}

// within returns the path of a group from the part of the hierarchy that is mounted. A group
// outside of that part cannot be found; then the limit of the part itself is the best there is.
func within(mounted, group string) string {
	mounted, group = path.Join("/", mounted), path.Join("/", group)
	if mounted == "/" {
		return group
	}
	if rest, ok := strings.CutPrefix(group, mounted); ok && (rest == "" || rest[0] == '/') {
		return path.Join("/", rest)
	}
	return "/"
}

// unescape decodes the octal escapes of mountinfo, such as \040 for a space.
func unescape(text string) string {
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+4 <= len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				out = append(out, byte(n))
				i += 3
				continue
			}
		}
		out = append(out, text[i])
	}
	return string(out)
}
