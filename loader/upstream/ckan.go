package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"hdqs/internal/fetch"
	"hdqs/internal/objects"
	"hdqs/loader/catalogfile"
)

// ckanPackage is the part of a package that is used; raw is all of it. Packages are written by
// many: a fault in one must not hide the others.
type ckanPackage struct {
	ID        catalogfile.Text `json:"id"`
	Name      catalogfile.Text `json:"name"`
	State     catalogfile.Text `json:"state"`
	Resources ckanResources    `json:"resources"`

	raw   json.RawMessage
	fault error // why some or all of it cannot be read
}

// Bounds of the answers of a site. A site must not return more packages than were asked for, and an
// object of two bytes takes hundreds when it is decoded.
const (
	maxAnswerBytes    = catalogfile.MaxBytes // of one request
	maxSearchBytes    = 2 * maxAnswerBytes   // of all pages of a search
	maxPackageEntries = 5000                 // resources of a package
)

type ckanResources []ckanResource

// UnmarshalJSON decodes the list.
func (r *ckanResources) UnmarshalJSON(data []byte) (err error) {
	*r, err = catalogfile.DecodeList[ckanResource](data, maxPackageEntries, "a package has", "resources")
	return err
}

// ckanPackages are the packages of one page of a search.
type ckanPackages []*ckanPackage

// UnmarshalJSON decodes the list.
func (p *ckanPackages) UnmarshalJSON(data []byte) (err error) {
	*p, err = catalogfile.DecodeList[*ckanPackage](data, searchRows, "package_search returned", "packages")
	return err
}

type ckanResource struct {
	ID               catalogfile.Text `json:"id"`
	Name             catalogfile.Text `json:"name"`
	URL              catalogfile.Text `json:"url"`
	Format           catalogfile.Text `json:"format"`
	LastModified     catalogfile.Text `json:"last_modified"`
	MetadataModified catalogfile.Text `json:"metadata_modified"`
	Size             catalogfile.Text `json:"size"`
	Hash             catalogfile.Text `json:"hash"`
	State            catalogfile.Text `json:"state"`

	taken bool // a role reads it, or none need read it
}

// UnmarshalJSON keeps the text as well: package files of the tree are the site's own JSON.
func (p *ckanPackage) UnmarshalJSON(data []byte) error {
	type plain ckanPackage
	if p.fault = json.Unmarshal(data, (*plain)(p)); p.fault == nil {
		p.raw = append(json.RawMessage(nil), data...)
	}
	return nil
}

// isThere reports whether the site still has a package or resource of this state.
func isThere(state catalogfile.Text) bool { return state != "deleted" && state != "draft" }

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
	if err := s.client.JSON(ctx, s.base+"/api/3/action/"+action+"?"+query.Encode(), maxAnswerBytes, &e); err != nil {
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
		p = &ckanPackage{ID: catalogfile.Text(id), fault: fmt.Errorf("package_show %s: no package in the answer", id)}
	}
	return p, err
}

const (
	searchRows     = 100 // in one answer; sites return at most 1000
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
		Count   int          `json:"count"`
		Results ckanPackages `json:"results"`
	}
	var found []*ckanPackage
	seen := map[catalogfile.Text]bool{} // ids, and names after a blank
	count, size := -1, 0
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
		case p.Count > catalogfile.MaxFiles:
			return nil, &catalogfile.TooManyError{
				What: "package_search for " + fq + " found", Limit: catalogfile.MaxFiles, Unit: "packages",
			}
		}
		count = p.Count
		for _, x := range p.Results {
			if x == nil { // null
				x = &ckanPackage{fault: errors.New("it is null")}
			}
			if x.ID != "" && seen[x.ID] || x.Name != "" && seen[" "+x.Name] {
				return nil, fmt.Errorf("%w: a package came twice", errUnstable)
			}
			if size += len(x.raw); size > maxSearchBytes {
				return nil, fmt.Errorf("package_search for %.100s: more than %d bytes of packages", fq, maxSearchBytes)
			}
			seen[x.ID], seen[" "+x.Name] = true, true
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

// byID finds packages by id, at most packagesPerSearch at once, and calls use with them. Those that
// a search does not find are asked for one by one, since the search index lags. Ids that no package
// has any more are left out. A search whose answer is too large is repeated in halves.
func (s *ckanSite) byID(ctx context.Context, ids []string, use func([]*ckanPackage)) error {
	found, err := s.search(ctx, "id:("+strings.Join(ids, " OR ")+")")
	if half := len(ids) / 2; half > 0 && errors.Is(err, objects.ErrTooLarge) {
		if err := s.byID(ctx, ids[:half], use); err != nil {
			return err
		}
		return s.byID(ctx, ids[half:], use)
	}
	if err != nil {
		return err
	}
	use(found)
	for _, id := range ids {
		if slices.ContainsFunc(found, func(p *ckanPackage) bool { return string(p.ID) == id }) {
			continue
		}
		switch p, err := s.show(ctx, id); {
		case err == nil:
			use([]*ckanPackage{p})
		case !isAbsent(err):
			return err
		}
	}
	return nil
}

// isAbsent reports whether the site answered that it does not have something, or not for everyone.
// A block says nothing about what there is.
func isAbsent(err error) bool {
	var status *fetch.StatusError
	return errors.As(err, &status) && !fetch.IsBlocked(err) &&
		(status.Code == http.StatusNotFound || status.Code == http.StatusForbidden)
}

// modified is when the data changed; sites leave last_modified empty on resources that never did.
func (r *ckanResource) modified() string { return string(cmp.Or(r.LastModified, r.MetadataModified)) }

// size is 0 when the site does not say it in bytes.
func (r *ckanResource) size() int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(string(r.Size)), 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// form is the form of a file, by the format, or else by the ending of the address.
func (r *ckanResource) form() string {
	return cmp.Or(catalogfile.Form(string(r.Format)), catalogfile.Form(path.Ext(r.fileName())))
}

// fileName is the last part of the address.
func (r *ckanResource) fileName() string {
	u, err := url.Parse(string(r.URL))
	if err != nil || u.Path == "" {
		return ""
	}
	return path.Base(u.Path)
}
