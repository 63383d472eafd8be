// Command judge checks a server against the contract: package judge computes what each answer must
// be.
//
//	judge --views DIR --base URL --n N   random requests; prints every difference
//
// The exit code is 1 if answers differ, 2 for a usage error.
package main

import (
	"os"

	"hdqs/internal/judge"
)

func main() { os.Exit(judge.Main(os.Args[1:], os.Stdout, os.Stderr)) }
