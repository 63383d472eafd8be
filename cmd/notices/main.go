// Command notices prints the licences of everything that is linked into a command: the Go runtime
// and library, each module with its version, and the sources of the facts that it embeds. "go
// generate ./cmd/hdqs" writes the output to the file that "hdqs licenses" prints; a test fails when
// that is stale.
package main

import (
	"flag"
	"fmt"
	"os"

	"hdqs/internal/atomicfile"
)

func main() {
	out := flag.String("o", "", "file to write; default: stdout")
	flag.Parse()
	if err := run(flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(command, out string) error {
	if command == "" {
		command = "."
	}
	modules, err := linked(command)
	if err != nil {
		return err
	}
	text, err := notices(modules)
	if err != nil {
		return err
	}
	if out == "" {
		_, err := os.Stdout.Write(text)
		return err
	}
	return atomicfile.Write(out, text)
}
