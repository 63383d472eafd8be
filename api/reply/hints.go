package reply

import (
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/internal/nearest"
)

// maxHints is how many hints an answer has. More would crowd out other header fields.
const maxHints = 4

// meantNames are names that other services give to parameters of ours, with ours in the names of
// the contract.
var meantNames = map[string]string{
	"country": "location_code", "country_code": "location_code", "iso": "location_code", "iso3": "location_code",
	"iso_code": "location_code", "location": "location_code", "p_code": "admin1_code", "pcode": "admin1_code",
	"country_name": "location_name", "admin1": "admin1_code", "admin2": "admin2_code", "level": "admin_level",
	"count": "limit", "max": "limit", "page_size": "limit", "per_page": "limit", "rows": "limit", "size": "limit",
	"page": "offset", "skip": "offset", "format": "output_format", "output": "output_format",
	"date_from": "start_date", "from": "start_date", "since": "start_date",
	"year": "start_date", "date_to": "end_date", "to": "end_date", "until": "end_date",
	"date": "start_date", "date_min": "start_date", "min_date": "start_date", "date_start": "start_date",
	"date_max": "end_date", "max_date": "end_date", "date_end": "end_date",
	"reference_period_start": "start_date", "reference_period_start_min": "start_date",
	"reference_period_end_min": "start_date", "reference_period_end": "end_date",
	"reference_period_start_max": "end_date", "reference_period_end_max": "end_date",
	"cluster": "sector_code", "cluster_code": "sector_code", "phase": "classification_phase", "sector": "sector_code",
	"commodity": "commodity_code", "market": "market_code", "product": "commodity_name",
	"countries": "location_code", "countrycode": "location_code", "region": contract.GroupParam,
	"state": "admin1_name", "province": "admin1_name", "district": "admin2_name",
	"start": "start_date", "after": "start_date", "month": "start_date", "period": "start_date",
	"end": "end_date", "before": "end_date", "status": "population_status", "sex": "gender", "age": "age_range",
	"org": "org_acronym", "ngo": "org_name", "organisation": "org_name", "organization": "org_name",
	"origin": "origin_location_code", "asylum": "asylum_location_code",
}

// Meant returns which parameter a caller may have meant by an unknown one, and the question whether
// that is so. Both are empty if none is near.
func Meant(r *contract.Request, unknown string) (name string, hint say.Text) {
	if name, hint = r.Scanned.MeantBy(unknown); name != "" {
		return name, hint
	}
	names := r.Scanned.ParamNames()
	unknown = strings.ToLower(unknown)
	usual := meantNames[unknown]
	if usual == contract.StartParam && !slices.Contains(names, usual) { // of figures, which are as known on a day
		usual = contract.EndParam
	}
	var ends []string // with the same end: a list of journeys has two codes of places
	for _, name := range names {
		if usual != "" && contract.ContractNames.Name(name) == usual {
			return name, contract.DidYouMean(name)
		}
		if strings.HasSuffix(name, "_"+unknown) {
			ends = append(ends, name)
		}
	}
	switch len(ends) {
	case 1:
		return ends[0], contract.DidYouMean(ends[0])
	case 2:
		return ends[0], say.Of("did you mean %s?", say.Of("%s or %s", ends[0], ends[1]))
	}
	// A list of places calls the code of a place code, others call it location_code.
	thing := r.Scanned.Thing() + "_"
	near := slices.Clone(names)
	for _, name := range names {
		near = append(near, thing+name)
	}
	meant := nearest.Of(unknown, near)
	if meant == "" {
		return "", hint
	}
	if !slices.Contains(names, meant) {
		meant = strings.TrimPrefix(meant, thing)
	}
	return meant, contract.DidYouMean(meant)
}

// SetUnknown writes X-Unknown-Params and X-Hint.
func SetUnknown(h *fasthttp.ResponseHeader, r *contract.Request) {
	unknown, hint := UnknownOf(r)
	if len(unknown) > 0 {
		h.SetCanonical(nameUnknown, []byte(strings.Join(unknown, ", ")))
	}
	if !hint.IsZero() {
		h.SetCanonical(NameHint, []byte(hint.String()))
	}
}

// UnknownOf returns the unknown parameters, and which ones were probably meant. Unknown parameters
// are ignored, so a caller who misspells a filter gets more rows than wanted. Of a repeated
// parameter only the last value counts, and a code with a comma matches nothing, so a caller who
// means several values gets fewer. The fields show why.
func UnknownOf(r *contract.Request) (unknown []string, hint say.Text) {
	hints := r.Hints()
	for _, name := range r.Scanned.Hinted() {
		if len(hints) < maxHints {
			hints = append(hints, say.Of("%s: for several values use %s.", name, name+contract.SeveralSuffix))
		}
	}
	unknown = r.Scanned.UnknownNames()
	for _, name := range unknown {
		if meant, hint := Meant(r, name); meant != "" && len(hints) < maxHints {
			hints = append(hints, say.Of("%s: %s", name, hint))
		}
	}
	return unknown, say.Join(hints...)
}
