// Package judge is a conformance oracle for the whole service. From a directory of view dumps it
// computes the answer that the contract requires for any request, one row at a time and sharing no
// code with the service, and compares it with the server's. cmd/judge is its program. What is in
// no row is judged by other tests: identifiers, methods and other paths (api/testdata/http), and
// which of several codings is sent (api/encode).
//
// The files, each of which uses those below it:
//
//	command.go                         the program
//	maker.go grade.go                  requests at random; whether an answer is right
//	maker_extend.go maker_values.go
//	facets.go changes.go wrong.go same.go place.go selection.go aggregate.go
//	answer.go extend.go                the right answer
//	link.go issues.go request.go render.go match.go
//	world.go values.go csvtext.go      rows and their values
//	contract.go                        what is declared
package judge
