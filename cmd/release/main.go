// Command release packs a binary that is built already: an archive for people, for Linux an image
// of a container, and lists of its modules in SPDX and CycloneDX. What it writes depends on its
// arguments and on the binary only, so that two builds of one commit can be compared byte by byte.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"hdqs/internal/atomicfile"
)

// release is one binary and what is said about it.
type release struct {
	version, commit string
	made            time.Time
	system, machine string // as Go names them
	binary          []byte
}

// entry is a file or a directory of an archive. Directories end with a slash.
type entry struct {
	name  string
	mode  int64
	owner int
	data  []byte
}

func main() {
	var r release
	flag.StringVar(&r.version, "version", "", "version of the program")
	flag.StringVar(&r.commit, "commit", "", "what git describe says")
	flag.StringVar(&r.system, "os", "linux", "GOOS of the binary")
	flag.StringVar(&r.machine, "arch", "amd64", "GOARCH of the binary")
	seconds := flag.Int64("time", 0, "time of the commit, in seconds since 1970: that of all files")
	binary := flag.String("binary", "", "the binary")
	out := flag.String("out", "dist", "directory to write to")
	flag.Parse()
	r.made = time.Unix(*seconds, 0).UTC()
	if err := r.write(*binary, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// write writes everything for one binary. The files go into the archive beside it, below the
// folders that their names have.
func (r *release) write(binary, out string, files []string) (err error) {
	if r.binary, err = os.ReadFile(binary); err != nil {
		return err
	}
	name := fmt.Sprintf("hdqs_%s_%s_%s", r.version, r.system, r.machine)
	made := map[string][]byte{}
	pack := func(end string, data []byte, packErr error) {
		if err == nil {
			made[name+end], err = data, packErr
		}
	}
	program := entry{name + "/" + filepath.Base(binary), 0o755, 0, r.binary}
	entries := []entry{{name + "/", 0o755, 0, nil}, program}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		mode := int64(0o644)
		if strings.HasSuffix(file, ".sh") {
			mode = 0o755
		}
		entries = append(entries, entry{path.Join(name, filepath.ToSlash(file)), mode, 0, data})
	}
	if r.system == "windows" {
		data, zipErr := zipped(entries, r.made)
		pack(".zip", data, zipErr)
	} else {
		data, tarErr := tarball(entries, r.made)
		pack(".tar.gz", compressed(data), tarErr)
	}
	if r.system == "linux" {
		data, imageErr := r.image()
		pack("_image.tar", data, imageErr)
	}
	modules, readErr := r.modules(binary)
	pack(".spdx.json", r.spdx(modules), readErr)
	pack(".cdx.json", r.cycloneDX(modules), nil)
	for name, data := range made {
		if err == nil {
			err = atomicfile.Write(filepath.Join(out, name), data)
		}
	}
	return err
}

func tarball(entries []entry, made time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: made, Uid: e.owner, Gid: e.owner}
		h.Typeflag = tar.TypeReg
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// compressed is without a time and a name in its header.
func compressed(data []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is right
	}
	_, _ = w.Write(data) // into memory
	_ = w.Close()
	return out.Bytes()
}

func zipped(entries []entry, made time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		h := zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: made}
		h.SetMode(os.FileMode(e.mode))
		file, err := w.CreateHeader(&h)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
