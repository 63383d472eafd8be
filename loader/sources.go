package loader

import (
	"encoding/json"
	"fmt"
	"time"

	"hdqs/loader/catalogfile"
	"hdqs/snapshot/store"
)

// Source is what a snapshot says about the files that a table was made from.
type Source struct {
	Table      string
	Updated    time.Time // when the newest of its resources was changed; zero if the catalog does not say
	StaleSince time.Time // first load that had to use an older form; zero if the present one was used
	Why        string    // it is stale
}

// SourcesIn lists the sources of a snapshot's tables.
func SourcesIn(m *store.Manifest) ([]Source, error) {
	var state loadState
	if len(m.State) > 0 {
		if err := json.Unmarshal(m.State, &state); err != nil {
			return nil, fmt.Errorf("state in the manifest of snapshot %s: %w", m.ID, err)
		}
	}
	roles := map[string]string{}
	for _, th := range themes {
		roles[th.table.name] = th.role
	}
	var all []Source
	for _, ref := range m.Tables {
		role := roles[ref.Table]
		if ref.Table == "dataset" || ref.Table == "resource" {
			role = catalogfile.PackageRole
		}
		if role == "" {
			continue // made from other tables
		}
		s := Source{Table: ref.Table, Updated: state.updated(role)}
		for _, stale := range state.Stale {
			ofTable := stale.Role == role || stale.Path == ref.Table
			if ofTable && (s.StaleSince.IsZero() || stale.Since.Before(s.StaleSince)) {
				s.StaleSince, s.Why = stale.Since, stale.Why
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// updated returns when the newest resource that rows of a role name was changed.
func (s *loadState) updated(role string) (newest time.Time) {
	for _, use := range s.Roles[role].Uses {
		micros, ok := parseInstant([]byte(s.Resources[use.Resource].LastModified))
		if at := time.UnixMicro(micros).UTC(); ok && at.After(newest) {
			newest = at
		}
	}
	return newest
}
