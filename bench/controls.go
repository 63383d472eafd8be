package main

import (
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"mime"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"

	"hdqs/bench/load"
)

// sendFixed is the command fixed: the server's HTTP library with bodies in memory.
func sendFixed(flags *flag.FlagSet, args []string) error {
	listen := flags.String("listen", "127.0.0.1:8080", "address to listen on")
	dir := flags.String("dir", "", "directory of the bodies; the path of each is /NAME")
	if err := parse(flags, args); err != nil {
		return err
	}
	entries, err := os.ReadDir(*dir)
	if err != nil {
		return err
	}
	bodies := map[string][]byte{}
	for _, entry := range entries {
		if bodies["/"+entry.Name()], err = os.ReadFile(filepath.Join(*dir, entry.Name())); err != nil {
			return err
		}
	}
	server := fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
		path := string(ctx.Path())
		body, ok := bodies[path]
		if !ok {
			ctx.NotFound()
			return
		}
		ctx.SetContentType(mime.TypeByExtension(filepath.Ext(path)))
		ctx.Response.SetBodyRaw(body)
	}}
	return server.ListenAndServe(*listen)
}

// checksumPiece is how much of a file a thread of the command checksum takes at a time.
const checksumPiece = 4 << 20

// checksum is the command checksum: it reads files on all cores and prints their bytes.
func checksum(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	total := int64(0)
	var pieces errgroup.Group
	pieces.SetLimit(runtime.GOMAXPROCS(0))
	for _, name := range flags.Args() {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		total += info.Size()
		for at := int64(0); at < info.Size(); at += checksumPiece {
			pieces.Go(func() error {
				in := io.NewSectionReader(f, at, checksumPiece)
				_, err := io.CopyBuffer(crc32.New(table), in, make([]byte, 256<<10))
				return err
			})
		}
	}
	if err := pieces.Wait(); err != nil {
		return err
	}
	fmt.Println(total)
	return nil
}

// mapped returns the data files that a process has mapped into memory.
func mapped(pid int) ([]string, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return nil, err
	}
	maps, err := p.ProcMaps()
	if err != nil {
		return nil, err
	}
	var files []string
	for _, m := range maps {
		if strings.HasPrefix(m.Pathname, "/") && strings.HasSuffix(m.Pathname, ".seg") {
			files = append(files, m.Pathname)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// mostStart is the target of the time from start to first answer, divided by the control's.
const mostStart = 2

// starts starts the server several times on all cores, until the first answer. The control reads
// and checksums the same files in a process of its own, in turns.
func (e *experiment) starts() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var files []string
	var took, ratios []float64
	for range e.rounds {
		p, err := launch(&load.Server{Name: "ours"}, e.wide, e.start, firstPlain(e.queries))
		if err != nil {
			return err
		}
		took = append(took, p.took.Seconds())
		files, err = mapped(p.PID)
		p.stop()
		if err != nil {
			return err
		}
		if len(files) == 0 {
			continue
		}
		control := append(append(strings.Fields(e.wide), self, "checksum"), files...)
		begun := time.Now()
		if text, err := exec.Command(control[0], control[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("checksums: %w: %s", err, text)
		}
		ratios = append(ratios, p.took.Seconds()/time.Since(begun).Seconds())
	}
	first := load.Spread(took)
	e.report.Start = first
	progress("first answer after %v s, divided by checksums of %d files %v", first, len(files), load.Spread(ratios))
	if len(ratios) > 0 {
		e.report.Targets = append(e.report.Targets, load.Verdict{
			Query: "start", Encoding: "time", Work: "start to first answer, all cores",
			Control: fmt.Sprintf("reading and checksumming the same %d files by crc32, all cores", len(files)),
			Micros:  first.Median * 1e6, Most: mostStart, Got: load.Spread(ratios),
		})
	}
	return nil
}
