// Command bench sends a server the queries of a mix, and measures what the answers cost. It imports
// nothing of the program under test: it uses an address and a process id, so that every server of
// an interface is measured in the same way. compare.py and swaps.py start it for each burst.
//
// At a given rate, latency counts from the moment a request was due, not from when a connection was
// free for it: a server that stalls is charged for all requests that it delayed.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"time"

	"github.com/valyala/fasthttp"
)

const usage = `usage: bench load [flags] http://HOST:PORT < MIX    prints figures as JSON; -h lists the flags
       bench fixed HOST:PORT DIR                    sends the files of DIR from memory, by the HTTP library of hdqs`

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) == 3 && args[0] == "fixed":
		return sendFixed(args[1], args[2])
	case len(args) == 0 || args[0] != "load":
		return errors.New(usage)
	}
	var d drive
	flags := flag.NewFlagSet("bench load", flag.ContinueOnError)
	flags.StringVar(&d.encoding, "encoding", identity, "content coding to request: identity, gzip, zstd")
	flags.IntVar(&d.connections, "connections", 8, "number of connections")
	flags.IntVar(&d.pid, "pid", 0, "process id of the server, for its CPU")
	flags.Float64Var(&d.rate, "rate", 0, "requests due per second; 0: as fast as the server answers")
	flags.DurationVar(&d.duration, "duration", 5*time.Second, "how long")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() != 1 || d.connections < 1 {
		return errors.New(usage)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if d.queries, err = readMix(string(text)); err != nil {
		return err
	}
	o, err := d.run(flags.Arg(0))
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", " ")
	return encoder.Encode(o.report())
}

// sendFixed serves files at their names.
func sendFixed(listen, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	bodies := map[string][]byte{}
	for _, entry := range entries {
		if bodies["/"+entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return fasthttp.ListenAndServe(listen, func(ctx *fasthttp.RequestCtx) {
		path := string(ctx.Path())
		body, ok := bodies[path]
		if !ok {
			ctx.NotFound()
			return
		}
		ctx.SetContentType(mime.TypeByExtension(filepath.Ext(path)))
		ctx.Response.SetBodyRaw(body)
	})
}
