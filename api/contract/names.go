package contract

// Prefixes of the paths below which the interface is served once more, with HAPI names or, where
// those are at the root, with the contract's.
const (
	HAPIPrefix     = "/hapi"
	ContractPrefix = "/contract"
)

// Paths beside the list endpoints.
const (
	EncodePath  = "/api/v2/encode_app_identifier"
	VersionPath = "/api/v2/util/version"
)

// Versions that /api/v2/util/version reports. SchemaVersion is the version of the incumbent's
// tables that the records follow.
const (
	InterfaceVersion = "0.9.13"
	SchemaVersion    = "0.9.17"
)

// Header fields, content types and methods that the interface description names.
const (
	HeaderTotal    = "X-Total-Count"
	HeaderResult   = "X-Result-Count"
	HeaderSnapshot = "X-Snapshot-Id"
	HeaderUnknown  = "X-Unknown-Params"
	HeaderHint     = "X-Hint"
	HeaderMore     = "X-Facet-More"
	HeaderChanges  = "X-Changes" // of each kind: added=1, removed=2, changed=3
	HeaderUpdated  = "X-Data-Updated"
	HeaderStale    = "X-Data-Stale"

	JSONType       = "application/json"
	AllowedMethods = "GET, HEAD, OPTIONS"
)
