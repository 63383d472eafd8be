package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hdqs/api/boundary"
	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/files"
	"hdqs/api/state"
)

// answerFlags are the flags for making responses, caching them, and refusing them under load. Most
// have an option of the server as their target.
type answerFlags struct {
	state.Options
	inflight, bodyCache size
}

func (f *answerFlags) register(fl *pflag.FlagSet) {
	numberVar(fl, &f.Freshness.MaxAge, "max-age", time.Minute, 0, longestPause,
		"how long browsers may use a response")
	numberVar(fl, &f.Freshness.SharedMaxAge, "s-maxage", time.Hour, 0, longestPause,
		"how long shared caches may use a response")
	numberVar(fl, &f.Freshness.StaleWhileRevalidate, "stale-while-revalidate", 24*time.Hour, 0, longestPause,
		"how long caches may use a stale response while they fetch a fresh one")
	numberVar(fl, &f.Freshness.StaleIfError, "stale-if-error", 7*24*time.Hour, 0, longestPause,
		"how long caches may use a stale response while this service is unavailable")
	fl.StringVar(&f.Freshness.CDN, "cdn-cache-control", "", "value of CDN-Cache-Control in successful responses")
	numberVar(fl, &f.KeepPrevious, "keep-previous", 15*time.Minute, 0, longestPause,
		fmt.Sprintf("how long snapshot=ID may name a replaced snapshot, at most the last %d; 0: never",
			state.MostPrevious))
	fl.BoolVar(&f.Strict, "strict", false,
		"refuse unknown parameters with 422, as 'Prefer: handling=strict' does")
	fl.BoolVar(&f.SurrogateKey, "surrogate-key", false, "send purge keys as Surrogate-Key")
	fl.BoolVar(&f.CacheTag, "cache-tag", false, "send purge keys as Cache-Tag")
	numberVar(fl, &f.Queries, "max-queries", 0, 0, mostAtOnce,
		"list queries at once, and as many more that take long; 0: 4 for each core")
	numberVar(fl, &f.QueueWait, "queue-wait", state.DefaultQueueWait, 0, longestWait,
		"how long a query may wait before it gets 503; halved under sustained overload")
	fl.Var(&f.inflight, "max-inflight-bytes",
		"bytes of responses being sent above which requests get 503; 0: 512MiB, or less with a memory limit")
	numberVar(fl, &f.Exports, "max-exports", files.DefaultExports, 1, mostAtOnce,
		"exports and downloads at once, at most half of them to one address or app identifier; more get 503")
	numberVar(fl, &f.ExportRows, "max-export-rows", files.DefaultExportRows, 1, math.MaxInt32,
		"records of one export; more get 422")
	numberVar(fl, &f.ExportTimeout, "export-timeout", files.DefaultExportTimeout, time.Second, longestPause,
		"longest time of an export; then its connection is closed")
	f.bodyCache.auto = true
	fl.Var(&f.bodyCache, "body-cache",
		"bytes of finished bodies that are cached; 0: none; auto: 64MiB, or less with a memory limit")
	choiceVar(fl, &f.Compression, "compression", words(encode.Stored, encode.Pieces, encode.Whole),
		"encoders of gzip: stored, pieces (no stored blocks) or whole (the library only)")
	choiceVar(fl, &f.Names, "names", words(contract.ContractNames, contract.HAPINames),
		"names of fields, parameters and paths at the root: contract, with HAPI names below "+contract.HAPIPrefix+
			"; or hapi, with the contract's below "+contract.ContractPrefix)
	fl.StringVar(&f.BaseURL, "base-url", "",
		"public address of the service, such as https://HOST, for links; empty: the host of the request, and "+
			"caches may not keep such pages")
	fl.BoolVar(&f.Bulk, "bulk", false,
		"serve the bulk files that the store has below "+files.BulkPath)
	choiceVar(fl, &f.BulkIdentifier, "bulk-identifier", []word[bool]{{"optional", false}, {"required", true}},
		"app identifiers for bulk files: optional, or required where --identifier requires them")
	choiceVar(fl, &f.ODataIdentifier, "odata-identifier", []word[bool]{{"optional", false}, {"required", true}},
		"as --bulk-identifier, for OData")
	choiceVar(fl, &f.OGCIdentifier, "ogc-identifier", []word[bool]{{"optional", false}, {"required", true}},
		"as --bulk-identifier, for features at /ogc")
	fl.BoolVar(&f.Agents, "mcp", false,
		"answer agents (MCP) at /mcp; behind a proxy it needs --base-url")
}

// finish sets what the flags cannot set themselves, since 0 in an option means its default.
func (f *answerFlags) finish() (err error) {
	for _, d := range []*time.Duration{
		&f.Freshness.MaxAge, &f.Freshness.SharedMaxAge, &f.Freshness.StaleWhileRevalidate,
		&f.Freshness.StaleIfError, &f.KeepPrevious, &f.QueueWait,
	} {
		if *d == 0 {
			*d = -1
		}
	}
	f.InflightBytes, f.CacheBytes = f.inflight.bytes, f.bodyCache.bytes
	if f.CacheBytes == 0 && !f.bodyCache.auto {
		f.CacheBytes = -1
	}
	f.BaseURL, err = baseURL(f.BaseURL)
	return err
}

// baseURL checks the public address of the service and returns it without trailing slashes.
func baseURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil ||
		strings.ContainsAny(text, "?#' ") {
		return "", fmt.Errorf("--base-url %q: want http or https and a host, without user, query or quotes", text)
	}
	return strings.TrimRight(text, "/"), nil
}

// readGroups reads the file of --groups. It returns nil without one.
func (f *serveFlags) readGroups() ([]contract.CountryGroup, error) {
	if f.groups == "" {
		return nil, nil
	}
	return readFile("groups", f.groups, contract.ReadGroups)
}

// readFile reads the file that a flag names.
func readFile[T any](flag, path string, read func(io.Reader) (T, error)) (what T, err error) {
	file, err := os.Open(path)
	if err != nil {
		return what, fmt.Errorf("--%s: %w", flag, err)
	}
	defer file.Close()
	if what, err = read(file); err != nil {
		err = fmt.Errorf("--%s %s: %w", flag, path, err)
	}
	return what, err
}

// readBoundaries reads the file of --boundaries and says what it has. It returns nil without one.
func (f *serveFlags) readBoundaries(messages io.Writer) (*boundary.Set, error) {
	if f.boundaries == "" {
		if f.whose != "" {
			return nil, errors.New("--boundaries-source says whose boundaries --boundaries has; it is not set")
		}
		return nil, nil
	}
	set, err := readFile("boundaries", f.boundaries, func(file io.Reader) (*boundary.Set, error) {
		return boundary.Read(file, f.whose)
	})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(messages, "boundaries: %d countries, %d first-level units, %d second-level units of %s\n",
		set.Features[0], set.Features[1], set.Features[2], f.boundaries)
	if set.Uncoded > 0 {
		fmt.Fprintf(messages, "boundaries: %d features without a code are land without figures\n", set.Uncoded)
	}
	return set, nil
}
