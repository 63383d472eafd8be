// Command judge checks a server against the contract: package judge computes what each answer must
// be.
//
//	judge --views DIR --base URL --n N   random requests; prints every difference
//
// The exit code is 1 if answers differ, 2 for a usage error.
package main

import (
	"fmt"
	"os"

	"hdqs/internal/judge"
)

func main() {
	if err := judge.Main(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}
