package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hdqs/internal/fetch"
)

// ckanPackage is the part of a package that is used; raw is all of it.
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

// UnmarshalJSON keeps the text as well: package files of the tree are the site's own JSON.
func (p *ckanPackage) UnmarshalJSON(data []byte) error {
	type plain ckanPackage
	p.raw = append(json.RawMessage(nil), data...)
	return json.Unmarshal(data, (*plain)(p))
}

// ckanSite calls the actions of one site.
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
	searchRows     = 1000 // the most that sites return at once, whatever is asked for
	searchAttempts = 5
)

// search reads all pages of a search. Packages may be added and removed between two pages, so the
// whole search is repeated until the count stays the same and no package occurs twice.
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
			"fq": {fq}, "rows": {strconv.Itoa(searchRows)}, "start": {strconv.Itoa(len(found))},
			"sort": {"metadata_created asc"},
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

// packagesPerSearch keeps the address of a search below the limits of proxies.
const packagesPerSearch = 100

// byID finds packages by id. Those that a search does not find are asked for one by one, since the
// search index lags. Ids that no package has any more are left out.
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

// isAbsent reports whether the site answered that it does not have something, or not for everyone.
func isAbsent(err error) bool {
	var status *fetch.StatusError
	return errors.As(err, &status) && (status.Code == http.StatusNotFound || status.Code == http.StatusForbidden)
}

// modified is when the data changed; sites leave last_modified empty on resources that never did.
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
