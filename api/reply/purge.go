package reply

import (
	"slices"

	"hdqs/api/contract"
)

// Purge keys are labels of answers, by which an edge can purge those that are out of date:
//
//	all          every answer
//	page         every page that is the same for all snapshots
//	landing      the landing page and the reference, which show the snapshot
//	ep-NAME      every list of an endpoint that the next snapshot may change
//	tv-VERSION   every list of an endpoint at one content of its table
//	snap-ID      every answer from a snapshot
//	loc-CODE     lists of exactly one location that the next snapshot may change
//
// The version of a table changes only with its content. So a publish purges the endpoints whose
// tables differ (PurgeKeys), and everything else stays cached. Answers to requests that name their
// snapshot never go out of date, so they have neither ep-NAME nor loc-CODE. They have the keys all,
// tv-VERSION and snap-ID, in case data must be withdrawn.
const (
	AllKey     = "all"
	PageKey    = "page"
	LandingKey = "landing"
)

// versionDigits is the number of digits of a table's hash in a key.
const versionDigits = 12

// PurgeKeys returns the keys of the answers that change when new versions of some tables are
// served.
func PurgeKeys(tables []string) []string {
	keys := []string{LandingKey}
	for _, e := range EndpointsOf(tables) {
		keys = append(keys, "ep-"+e.Name())
	}
	return keys
}

// EndpointsOf returns the endpoints that read one of the tables.
func EndpointsOf(tables []string) []*contract.Endpoint {
	var all []*contract.Endpoint
	for i := range contract.Endpoints {
		if e := &contract.Endpoints[i]; slices.Contains(tables, e.Table) {
			all = append(all, e)
		}
	}
	return all
}

// VersionKey is the key of the lists of one content of a table.
func VersionKey(version string) string { return "tv-" + version[:min(versionDigits, len(version))] }
