// Command notices prints the licences of everything that is linked into a command: the Go runtime
// and library, each module with its version, packages for browsers, and the sources of the facts
// that it embeds. "go generate ./cmd/hdqs" writes the output to the file that "hdqs licenses"
// prints; a test fails when that is stale.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

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

// webOfCommand is the folder of the vendored packages, from that of a command.
const webOfCommand = "../../api/web"

func run(command, out string) error {
	if command == "" {
		command = "."
	}
	modules, err := linked(command)
	if err != nil {
		return err
	}
	packages, err := vendored(filepath.Join(command, webOfCommand))
	if err != nil {
		return err
	}
	text, err := notices(append(modules, packages...))
	if err != nil {
		return err
	}
	if out == "" {
		_, err := os.Stdout.Write(text)
		return err
	}
	return atomicfile.Write(out, text)
}
