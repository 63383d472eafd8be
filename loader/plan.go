package loader

import (
	"fmt"

	"hdqs/loader/catalogfile"
)

// plan says, before any data theme is read, which lists of places a load uses: those of the
// catalog, or those of the previous snapshot. Rows refer to places by number, and the numbers
// follow from the lists. So a table that is kept from the previous snapshot is right only together
// with the places it was made with.
//
// The plan begins with the lists of the catalog. It is revised when they would change a place's
// number and some table is kept. Most reasons for keeping a table are known before themes are read:
// a list that it is joined with is kept, a file could not be fetched, the catalog has no file of
// the role. Two reasons appear only while a theme is read: a file that is broken further down, and
// a table that lost more than half of its rows. Then the themes are read a second time.
type plan struct {
	keptLocations error // why the previous list of locations is used; nil when it is not
	keptUnits     error // why the previous list of units is used
}

// revised reports whether the plan uses lists of the previous snapshot.
func (p plan) revised() bool { return p.keptUnits != nil }

// kept is why the plan uses the previous list of a role, nil when it does not.
func (p plan) kept(role string) *listFault {
	why := p.keptUnits
	if role == catalogfile.LocationRole {
		why = p.keptLocations
	}
	if why == nil {
		return nil
	}
	return &listFault{role: role, why: why}
}

// revise is the plan for a load that keeps a table although one of the tables of places changes.
// Units follow their locations, but locations do not follow units.
func revise(keptTable, changedPlaces string) plan {
	why := fmt.Errorf("table %s is kept from the current snapshot and refers to places by number, "+
		"so the places are kept as well: table %s would change", keptTable, changedPlaces)
	p := plan{keptUnits: why}
	if changedPlaces == "location" {
		p.keptLocations = why
	}
	return p
}

// changedPlaces is the first table of places that differs from the previous snapshot's, "" when
// none does.
func (p *pass) changedPlaces() string {
	for _, table := range []string{"location", "admin1", "admin2"} {
		if old, ok := p.previous.table(table); ok && old != p.result.segments[table] {
			return table
		}
	}
	return ""
}

// conflict is the plan that must replace the present one, because a table is kept whose places have
// changed.
func (p *pass) conflict() (next plan, found bool) {
	kept, changed := p.result.keptPlaced, p.changedPlaces()
	if p.plan.revised() || kept == "" || changed == "" {
		return plan{}, false
	}
	return revise(kept, changed), true
}

// foreseeKept records the first data theme whose table will be kept whatever its files hold.
func (p *pass) foreseeKept() {
	for _, th := range dataThemes {
		if p.result.keptPlaced != "" {
			return
		}
		missing := len(p.catalog.files[th.role]) == 0 && p.previous.hasRows(th.table.name) && !p.opts.mayShrink(th.role)
		if th.table.hasPlaces() && (missing || p.unusable(th, nil) != nil) {
			p.result.keptPlaced = th.table.name
		}
	}
}

// hasPlaces reports whether rows of the table refer to places by number.
func (t *table) hasPlaces() bool {
	for _, c := range t.columns {
		if c.name == "location_ref" || c.name == "origin_location_ref" {
			return true
		}
	}
	return false
}
