// Command judge grades a server, or recorded answers, against the contract: package judge computes
// what each answer must be.
//
//	judge record --views DIR --n N --seed S > FILE   requests with their expected answers
//	judge replay --base URL --file FILE              sends them and prints every difference
//	judge check  --views DIR --base URL --n N        both at once
//	judge requests --file FILE                       requests for `hdqs query --batch -`
//	judge grade  --file FILE --answers FILE          compares the answers
//	judge garble --views DIR --out DIR --seed S      the same dumps with odd contents
//	judge condense CONTRACT                          the facts of the full contract.json
//
// The exit code is 1 if answers differ, 2 for a usage error.
package main

import (
	"os"

	"hdqs/internal/judge"
)

func main() { os.Exit(judge.Main(os.Args[1:], os.Stdout, os.Stderr)) }
