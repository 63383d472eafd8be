package main

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hdqs/api"
	"hdqs/api/contract"
	"hdqs/api/encode"
)

// answerFlags are the flags for making responses, caching them, and refusing them under load.
type answerFlags struct {
	maxAge, sharedMaxAge               time.Duration
	staleWhileRevalidate, staleIfError time.Duration
	cdnCacheControl                    string
	keepPrevious                       time.Duration
	strict, surrogateKey, cacheTag     bool
	queries                            int
	queueWait                          time.Duration
	inflight                           size
	exports, exportRows                int
	exportTimeout                      time.Duration
	bodyCache                          size
	keepBuffers                        bool
	compression                        string
	baseURL                            string
	names                              string
	bulk                               bool
	bulkIdentifier                     string
}

func (f *answerFlags) register(fl *pflag.FlagSet) {
	fl.DurationVar(&f.maxAge, "max-age", time.Minute, "how long browsers may use a response")
	fl.DurationVar(&f.sharedMaxAge, "s-maxage", time.Hour, "how long shared caches may use a response")
	fl.DurationVar(&f.staleWhileRevalidate, "stale-while-revalidate", 24*time.Hour,
		"how long caches may use a stale response while they fetch a fresh one")
	fl.DurationVar(&f.staleIfError, "stale-if-error", 7*24*time.Hour,
		"how long caches may use a stale response while this service is unavailable")
	fl.StringVar(&f.cdnCacheControl, "cdn-cache-control", "",
		"value of CDN-Cache-Control in successful responses; empty: not sent")
	fl.DurationVar(&f.keepPrevious, "keep-previous", 15*time.Minute,
		fmt.Sprintf("how long requests with snapshot=ID may use a replaced snapshot, at most the last %d; 0: never",
			api.MostPrevious))
	fl.BoolVar(&f.strict, "strict", false,
		"refuse unknown parameters with 422, as 'Prefer: handling=strict' does for one request")
	fl.BoolVar(&f.surrogateKey, "surrogate-key", false,
		"send purge keys as Surrogate-Key ('hdqs diff' prints what to purge)")
	fl.BoolVar(&f.cacheTag, "cache-tag", false, "send purge keys as Cache-Tag")
	fl.IntVar(&f.queries, "max-queries", 0,
		"list queries that run at once, and as many more that take long; 0: 4 for each core")
	fl.DurationVar(&f.queueWait, "queue-wait", api.DefaultQueueWait,
		"how long a query may wait to run before it gets 503; halved under sustained overload; 0: not at all")
	fl.Var(&f.inflight, "max-inflight-bytes",
		"responses being sent above which requests get 503; 0: 512MiB, or less with a memory limit")
	fl.IntVar(&f.exports, "max-exports", api.DefaultExports,
		"exports (LIST/export and downloads of pages) that are sent at once, at most half of them "+
			"to one address or app identifier; more get 503")
	fl.IntVar(&f.exportRows, "max-export-rows", api.DefaultExportRows, "records of one export; more get 422")
	fl.DurationVar(&f.exportTimeout, "export-timeout", api.DefaultExportTimeout,
		"longest time that an export may take; then its connection is closed")
	f.bodyCache.auto = true
	fl.Var(&f.bodyCache, "body-cache",
		"finished bodies that are cached for equal requests; 0: no cache; auto: 64MiB, or less with a memory limit")
	fl.StringVar(&f.compression, "compression", encode.Stored.String(),
		"encoders of gzip: stored (stored blocks and pieces), pieces (no stored blocks) or whole (the library only)")
	fl.StringVar(&f.names, "names", contract.ContractNames.String(),
		"names of fields, parameters and paths at the root: contract, with HAPI names below "+contract.HAPIPrefix+
			"; or hapi, with the contract's below "+contract.ContractPrefix)
	fl.StringVar(&f.baseURL, "base-url", "",
		"public address of the service, such as https://HOST, for links on the landing page; "+
			"empty: the host of the request, and caches may not keep that page")
	fl.BoolVar(&f.bulk, "bulk", false,
		"serve the bulk files that the store has below "+api.BulkPath)
	fl.StringVar(&f.bulkIdentifier, "bulk-identifier", "optional",
		"app identifiers of requests for bulk files: optional, or required where --identifier requires them")
	fl.BoolVar(&f.keepBuffers, "keep-buffers", false, "idle connections keep their buffers of 64 KiB")
	for name, into := range map[string]*time.Duration{
		"max-age": &f.maxAge, "s-maxage": &f.sharedMaxAge, "stale-while-revalidate": &f.staleWhileRevalidate,
		"stale-if-error": &f.staleIfError, "keep-previous": &f.keepPrevious,
	} {
		bound(fl, name, into, 0, longestPause)
	}
	bound(fl, "max-queries", &f.queries, 0, mostAtOnce)
	bound(fl, "max-exports", &f.exports, 1, mostAtOnce)
	bound(fl, "max-export-rows", &f.exportRows, 1, math.MaxInt32)
	bound(fl, "export-timeout", &f.exportTimeout, time.Second, longestPause)
	bound(fl, "queue-wait", &f.queueWait, 0, longestWait)
}

// fill sets the options from the flags.
func (f *answerFlags) fill(o *api.Options) (err error) {
	tiers := []encode.Tier{encode.Stored, encode.Pieces, encode.Whole}
	at := slices.IndexFunc(tiers, func(t encode.Tier) bool { return t.String() == f.compression })
	if at < 0 {
		return fmt.Errorf("--compression %q: want stored, pieces or whole", f.compression)
	}
	o.Compression = tiers[at]
	sets := []contract.NameSet{contract.ContractNames, contract.HAPINames}
	if at = slices.IndexFunc(sets, func(s contract.NameSet) bool { return s.String() == f.names }); at < 0 {
		return fmt.Errorf("--names %q: want contract or hapi", f.names)
	}
	o.Names = sets[at]
	o.Freshness = api.Freshness{
		MaxAge: orNever(f.maxAge), SharedMaxAge: orNever(f.sharedMaxAge),
		StaleWhileRevalidate: orNever(f.staleWhileRevalidate), StaleIfError: orNever(f.staleIfError),
		CDN: f.cdnCacheControl,
	}
	o.KeepPrevious = orNever(f.keepPrevious)
	o.Strict, o.SurrogateKey, o.CacheTag = f.strict, f.surrogateKey, f.cacheTag
	o.Queries, o.QueueWait, o.InflightBytes = f.queries, orNever(f.queueWait), f.inflight.bytes
	o.Exports, o.ExportRows, o.ExportTimeout = f.exports, f.exportRows, f.exportTimeout
	o.KeepBuffers = f.keepBuffers
	switch o.Bulk = f.bulk; f.bulkIdentifier {
	case "required":
		o.BulkIdentifier = true
	case "optional":
	default:
		return fmt.Errorf("--bulk-identifier %q: want optional or required", f.bulkIdentifier)
	}
	if o.BaseURL, err = baseURL(f.baseURL); err != nil {
		return err
	}
	if o.CacheBytes = f.bodyCache.bytes; o.CacheBytes == 0 && !f.bodyCache.auto {
		o.CacheBytes = -1
	}
	return nil
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

// orNever returns -1 for 0, because 0 in an option means its default.
func orNever(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}
