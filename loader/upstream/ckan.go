package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hdqs/internal/fetch"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
)

// organization is the one whose datasets are the standardized inputs.
const organization = "hdx-hapi"

// ckanPackage is what is used of a package; raw is all of it.
type ckanPackage struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	State     string         `json:"state"`
	Private   bool           `json:"private"`
	Resources []ckanResource `json:"resources"`

	raw json.RawMessage
}

type ckanResource struct {
	ID               string      `json:"id"`
	Name             string      `json:"name"`
	URL              string      `json:"url"`
	Format           string      `json:"format"`
	LastModified     string      `json:"last_modified"`
	MetadataModified string      `json:"metadata_modified"`
	Size             json.Number `json:"size"`
	Hash             string      `json:"hash"`
	State            string      `json:"state"`
}

// UnmarshalJSON keeps the text beside what is read from it: package files of the tree are the
// site's own words.
func (p *ckanPackage) UnmarshalJSON(data []byte) error {
	type plain ckanPackage
	p.raw = append(json.RawMessage(nil), data...)
	return json.Unmarshal(data, (*plain)(p))
}

// ckanSite asks the actions of one site.
type ckanSite struct {
	base   string
	client *fetch.Client
}

type envelope[T any] struct {
	Success bool `json:"success"`
	Result  T    `json:"result"`
	Error   struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	} `json:"error"`
}

func ask[T any](ctx context.Context, s *ckanSite, action string, query url.Values) (result T, err error) {
	var e envelope[T]
	if err := s.client.JSON(ctx, s.base+"/api/3/action/"+action+"?"+query.Encode(), &e); err != nil {
		return result, err
	}
	if !e.Success {
		return result, fmt.Errorf("%s: the catalog says %s: %s", action, e.Error.Type, e.Error.Message)
	}
	return e.Result, nil
}

func (s *ckanSite) show(ctx context.Context, id string) (*ckanPackage, error) {
	p, err := ask[*ckanPackage](ctx, s, "package_show", url.Values{"id": {id}})
	if err == nil && (p == nil || p.ID == "") {
		err = fmt.Errorf("package_show %s: no package in the answer", id)
	}
	return p, err
}

const (
	searchRows     = 1000 // the most that sites give at once, whatever is asked for
	searchAttempts = 5
)

// search reads all pages of a search. Packages may come and go between two pages, so the whole
// search is done again until the count has stayed and no package was seen twice.
func (s *ckanSite) search(ctx context.Context, fq string) ([]*ckanPackage, error) {
	var why error
	for range searchAttempts {
		found, err := s.searchOnce(ctx, fq)
		if err == nil || !errors.Is(err, errUnstable) {
			return found, err
		}
		why = err
	}
	return nil, why
}

var errUnstable = errors.New("the search changed while it was read")

func (s *ckanSite) searchOnce(ctx context.Context, fq string) ([]*ckanPackage, error) {
	type page struct {
		Count   int            `json:"count"`
		Results []*ckanPackage `json:"results"`
	}
	var found []*ckanPackage
	seen := map[string]bool{}
	count := -1
	for {
		p, err := ask[page](ctx, s, "package_search", url.Values{
			"fq": {fq}, "rows": {strconv.Itoa(searchRows)}, "start": {strconv.Itoa(len(found))}, "sort": {"metadata_created asc"},
		})
		switch {
		case err != nil:
			return nil, err
		case count >= 0 && p.Count != count:
			return nil, fmt.Errorf("%w: %d packages, then %d", errUnstable, count, p.Count)
		}
		count = p.Count
		for _, x := range p.Results {
			if x == nil || seen[x.ID] {
				return nil, fmt.Errorf("%w: a package came twice", errUnstable)
			}
			seen[x.ID] = true
			found = append(found, x)
		}
		switch {
		case len(found) == count:
			return found, nil
		case len(p.Results) == 0 || len(found) > count:
			return nil, fmt.Errorf("%w: %d packages of %d", errUnstable, len(found), count)
		}
	}
}

// packagesPerSearch keeps the address of a search below what proxies take.
const packagesPerSearch = 100

// byID finds packages by id; those that a search does not find are asked for one by one, since a
// search lags behind. Ids that no package has any more are simply absent.
func (s *ckanSite) byID(ctx context.Context, ids []string) (map[string]*ckanPackage, error) {
	found := map[string]*ckanPackage{}
	for batch := range slices.Chunk(ids, packagesPerSearch) {
		packages, err := s.search(ctx, "id:("+strings.Join(batch, " OR ")+")")
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			found[p.ID] = p
		}
		for _, id := range batch {
			if found[id] != nil {
				continue
			}
			switch p, err := s.show(ctx, id); {
			case err == nil:
				found[id] = p
			case !isAbsent(err):
				return nil, err
			}
		}
	}
	return found, nil
}

// isAbsent tells a thing that the site does not have, or not for everyone, from a site that does
// not answer.
func isAbsent(err error) bool {
	var status *fetch.StatusError
	return errors.As(err, &status) && (status.Code == http.StatusNotFound || status.Code == http.StatusForbidden)
}

// pick finds the resources of an input in its package.
func pick(in *loader.Input, p *ckanPackage) []ckanResource {
	var picked []ckanResource
	for _, r := range p.Resources {
		fits := strings.EqualFold(r.Format, "csv") && (r.State == "" || r.State == "active")
		if !fits || in.Named != nil && !in.Named.MatchString(r.Name) {
			continue
		}
		picked = append(picked, r)
		if in.First {
			break
		}
	}
	return picked
}

// modified is when the data changed; sites leave it empty on resources that never did.
func (r *ckanResource) modified() string {
	if r.LastModified != "" {
		return r.LastModified
	}
	return r.MetadataModified
}

func (r *ckanResource) size() int64 {
	n, err := r.Size.Int64()
	if err != nil {
		return 0
	}
	return n
}

var (
	unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
	md5Hash      = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// treePath is where a resource lies in the tree: its published file name orders the files of a
// role, as in any other catalog.
func treePath(role string, r *ckanResource) string {
	if catalogfile.IsReference(role) {
		return "reference/" + role + ".csv"
	}
	name := r.ID
	if u, err := url.Parse(r.URL); err == nil && strings.HasSuffix(strings.ToLower(u.Path), ".csv") {
		name = path.Base(u.Path)
	}
	name = strings.TrimLeft(unsafeInName.ReplaceAllString(name, "_"), ".")
	if !strings.HasSuffix(name, ".csv") {
		name += ".csv"
	}
	return role + "/" + name
}
