package api

import (
	"hdqs/api/files"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// What the program needs of the packages that a server is made of.
type (
	Options        = state.Options
	IdentifierMode = state.IdentifierMode
	Freshness      = reply.Freshness
	Release        = state.Release
	Published      = state.Published
	Change         = state.Change
	Poll           = state.Poll
	Bound          = state.Bound
	MemoryError    = state.MemoryError
	HeaderField    = reply.HeaderField
)

// Defaults and modes of Options.
const (
	RequireIdentifier    = state.RequireIdentifier
	ObserveIdentifier    = state.ObserveIdentifier
	IgnoreIdentifier     = state.IgnoreIdentifier
	DefaultQueueWait     = state.DefaultQueueWait
	DefaultConnections   = state.DefaultConnections
	DefaultExports       = files.DefaultExports
	DefaultExportRows    = files.DefaultExportRows
	DefaultExportTimeout = files.DefaultExportTimeout
	MostPrevious         = state.MostPrevious
	AllKey               = reply.AllKey
	BulkPath             = files.BulkPath
)
