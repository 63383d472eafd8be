package loader

import (
	"slices"
	"strings"
	"testing"

	"hdqs/loader/catalogfile"
)

// TestThemes looks for literals that contradict themselves or each other.
func TestThemes(t *testing.T) {
	t.Parallel()
	roles, views := map[string]bool{}, map[string]bool{}
	for _, th := range themes {
		name, isData := th.table.name, th.category != ""
		if isData != (th.subcategory != "") || isData != (th.places != nil) {
			t.Errorf("%s: category %q, subcategory %q, places %v: want all or none",
				name, th.category, th.subcategory, th.places)
		}
		if isData && (th.role == "" || th.steps == nil || th.published.dataset == "") {
			t.Errorf("%s: a data theme has a role, steps and a dataset", name)
		}
		if isData && catalogfile.IsReference(th.role) {
			t.Errorf("%s: role %s is a folder and a reference list", name, th.role)
		}
		if th.role != "" && roles[th.role] {
			t.Errorf("%s: role %s is declared twice", name, th.role)
		}
		roles[th.role] = true
		if views[th.viewName()] {
			t.Errorf("%s: view %s is declared twice", name, th.viewName())
		}
		views[th.viewName()] = true
		for _, p := range th.places {
			if c, ok := columnOf(th.table, p.prefix+"location_code"); !ok || c.group != p.group {
				t.Errorf("%s: group %s has no %slocation_code", name, p.group, p.prefix)
			}
		}
		for column := range th.view.renamed {
			if _, ok := columnOf(th.table, column); !ok && !slices.Equal(keys(th.view.renamed), keys(dataRenamed)) {
				t.Errorf("%s: renamed column %s is not in the table", name, column)
			}
		}
		for _, column := range th.joinedBy {
			if _, ok := columnOf(th.table, column); !ok {
				t.Errorf("%s: joined by column %s, which it does not have", name, column)
			}
		}
	}
	for _, th := range themes {
		for _, role := range th.joins() {
			joined := func(list *theme) bool { return list.role == role && list.joinedBy != nil }
			if !slices.ContainsFunc(joinedLists, joined) {
				t.Errorf("%s: joined with the list %s, which is not a join table", th.table.name, role)
			}
		}
	}
}

// TestInputs checks that every role that a directory may have is published somewhere, but for the
// list of locations.
func TestInputs(t *testing.T) {
	t.Parallel()
	published := map[string]bool{}
	for _, in := range Inputs() {
		if published[in.Role] {
			t.Errorf("role %s is published twice", in.Role)
		}
		published[in.Role] = true
		if dataTheme(in.Role) == nil && !catalogfile.IsReference(in.Role) {
			t.Errorf("role %s is neither a data theme nor a reference list", in.Role)
		}
		if (in.Dataset == "hdx-hapi-food-price") != (in.Named != nil) && strings.HasPrefix(in.Role, "food-prices") {
			t.Errorf("role %s: its dataset has files of other roles too, which a name must tell apart", in.Role)
		}
	}
	for _, th := range themes {
		if th.role != "" && th.role != catalogfile.LocationRole && !published[th.role] {
			t.Errorf("role %s is published nowhere", th.role)
		}
	}
}

func keys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
