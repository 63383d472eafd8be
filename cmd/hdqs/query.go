package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hdqs/api"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/follow"
)

func newQuery() *cobra.Command {
	var (
		f           = serveFlags{}
		batch       string
		showHeaders bool
		headers     []string
		method      string
	)
	cmd := &cobra.Command{
		Use:   "query [--store DIR] 'PATH?QUERY' | --batch FILE",
		Short: "Answers requests without a server, with the same bytes",
		Long: `Answers one request: the body goes to stdout, the status to stderr. Without --store the answer is
from the embedded sample, whose figures are all made up.

With --batch FILE (- is stdin) it reads one request per line, either PATH?QUERY or
{"method","path","headers"}. For each, in order, it prints one line
{"request","status","headers","body"}, with "body_b64" instead of "body" if the body is encoded or not
UTF-8.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (batch == "") {
				return usagef("query needs either one PATH?QUERY or --batch")
			}
			if batch != "" && !cmd.Flags().Changed("identifier") {
				f.answers.Identifier = state.RequireIdentifier
			}
			if err := checkTarget(args); err != nil {
				return exitWith(exitUsage, err)
			}
			server, done, err := openOffline(cmd.Context(), &f, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer done()
			if batch != "" {
				return answerBatch(server, batch, cmd.InOrStdin(), unwrap(cmd.OutOrStdout()))
			}
			fields, err := parseHeaders(headers)
			if err != nil {
				return exitWith(exitUsage, err)
			}
			out := unwrap(cmd.OutOrStdout())
			return answerOne(server, method, args[0], fields, showHeaders, out, cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	f.register(fl)
	fl.StringVar(&batch, "batch", "", "file with one request per line; - reads stdin")
	fl.BoolVarP(&showHeaders, "include", "i", false, "print the status line and header before the body")
	fl.StringArrayVarP(&headers, "header", "H", nil, "header line to send, as 'Name: value'; repeatable")
	fl.StringVarP(&method, "request", "X", "GET", "method")
	f.answers.Identifier = state.IgnoreIdentifier
	choiceVar(fl, &f.answers.Identifier, "identifier", identifierModes,
		"app identifiers: require, observe or off; with --batch require as a server does, unless it is set")
	return cmd
}

// openOffline returns a server without listeners that serves the current snapshot of the store.
func openOffline(ctx context.Context, f *serveFlags, messages io.Writer) (*api.Server, func(), error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	w := follow.NewWaiter(nil, log)
	store, done, err := openServed(ctx, messages, f, w)
	if err != nil {
		return nil, nil, err
	}
	server := api.New(state.Options{
		Identifier: f.answers.Identifier, Logger: log, SkipWarmUp: true, MadeUp: f.sample(),
	})
	if err := follow.New(f.following(server, store, w)).FirstAnswered(ctx); err != nil {
		done()
		return nil, nil, storeError(err)
	}
	return server, func() {
		if err := server.Shutdown(context.WithoutCancel(ctx)); err != nil {
			log.Error("snapshot did not close", "error", err)
		}
		done()
	}, nil
}

// checkTarget refuses what is no path: a URL with a host would be answered from the store, and not
// by that host.
func checkTarget(args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "/") {
		return nil
	}
	if u, err := url.Parse(args[0]); err == nil && u.Host != "" {
		return fmt.Errorf("%q has a host, but query sends no request: it answers from a store; "+
			"give only path and query: %q", args[0], u.RequestURI())
	}
	return fmt.Errorf("path %q: want one that begins with /", args[0])
}

func parseHeaders(lines []string) ([]reply.HeaderField, error) {
	var fields []reply.HeaderField
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("--header %q: want 'Name: value'", line)
		}
		fields = append(fields, reply.HeaderField{Name: name, Value: strings.TrimSpace(value)})
	}
	return fields, nil
}

func answerOne(
	s *api.Server, method, target string, fields []reply.HeaderField, showHeaders bool, out, messages io.Writer,
) error {
	a := s.Answer(method, target, fields)
	fmt.Fprintf(messages, "%d %s\n", a.Status, http.StatusText(a.Status))
	var text bytes.Buffer
	if showHeaders {
		fmt.Fprintf(&text, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
		for _, h := range a.Header {
			fmt.Fprintf(&text, "%s: %s\r\n", h.Name, h.Value)
		}
		text.WriteString("\r\n")
	}
	text.Write(a.Body)
	if _, err := out.Write(text.Bytes()); err != nil {
		return err
	}
	if a.Status >= 400 {
		return &exitError{code: exitFailed, err: fmt.Errorf("status %d", a.Status), quiet: true}
	}
	return nil
}

type batchRequest struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
}

type batchAnswer struct {
	Request json.RawMessage   `json:"request"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    *string           `json:"body,omitempty"`
	BodyB64 []byte            `json:"body_b64,omitempty"`
}

func answerBatch(s *api.Server, name string, stdin io.Reader, stdout io.Writer) error {
	in := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), 1<<20)
	out := bufio.NewWriterSize(stdout, 64<<10)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if line == "" {
			continue
		}
		answer, err := answerLine(s, line)
		if err != nil {
			return usagef("%s:%d: %w", name, n, err)
		}
		if err := encoder.Encode(answer); err != nil {
			return err
		}
		// A caller may wait for each response before it writes the next request.
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

func answerLine(s *api.Server, line string) (batchAnswer, error) {
	request := batchRequest{Path: line}
	raw, err := json.Marshal(line)
	if err != nil {
		return batchAnswer{}, err
	}
	if strings.HasPrefix(line, "{") {
		request.Path = ""
		if err := json.Unmarshal([]byte(line), &request); err != nil {
			return batchAnswer{}, err
		}
		raw = json.RawMessage(line)
	}
	if !strings.HasPrefix(request.Path, "/") {
		return batchAnswer{}, fmt.Errorf("path %q: want one that begins with /", request.Path)
	}
	if request.Method == "" {
		request.Method = "GET"
	}
	var fields []reply.HeaderField
	for name, value := range request.Headers {
		fields = append(fields, reply.HeaderField{Name: name, Value: value})
	}
	slices.SortFunc(fields, func(a, b reply.HeaderField) int { return strings.Compare(a.Name, b.Name) })
	a := s.Answer(request.Method, request.Path, fields)
	answer := batchAnswer{Request: raw, Status: a.Status, Headers: map[string]string{}}
	encoded := false
	for _, h := range a.Header {
		encoded = encoded || strings.EqualFold(h.Name, "Content-Encoding")
		if before, twice := answer.Headers[h.Name]; twice {
			h.Value = before + ", " + h.Value
		}
		answer.Headers[h.Name] = h.Value
	}
	if encoded || !utf8.Valid(a.Body) {
		answer.BodyB64 = a.Body
		return answer, nil
	}
	text := string(a.Body)
	answer.Body = &text
	return answer, nil
}
