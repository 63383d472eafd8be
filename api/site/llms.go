package site

import (
	"fmt"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
)

// Paths of texts for programs.
const (
	LlmsPath    = "/llms.txt"
	RobotsPath  = "/robots.txt"
	SitemapPath = "/sitemap.xml"

	textType = "text/plain; charset=utf-8"
	xmlType  = "application/xml; charset=utf-8"
)

// llmsText is what a language model should know before it sends requests, in the form of
// llmstxt.org: what is easily done wrong first, then links. base is the address of the mount.
func llmsText(m *list.Mount, base string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# %s\n", serviceTitle)
	line("> Humanitarian data by place and time as JSON, NDJSON or CSV: %d filtered lists, in the form of HDX HAPI "+
		"(version %s). Every answer is exact; the header %s has the total.\n",
		len(contract.Endpoints), contract.InterfaceVersion, contract.HeaderTotal)
	line("Before figures are added up:\n")
	line("- The records of most lists are of several admin levels, and the figures of a country contain those of its " +
		"units. Choose one level with admin_level.")
	line("- Some values are totals of others, such as all beside its parts, and some count the same people twice. " +
		"Below is what each list allows.")
	line("- Let the service add: LIST/aggregate?group_by=...&measures=sum:FIELD refuses a sum that would count " +
		"twice, and says what to ask instead. LIST/facets?of=FIELD counts records by value.")
	line("- A parameter that does not exist is ignored, so all records pass it. Send the header " +
		"Prefer: handling=strict, or look at X-Unknown-Params and X-Hint.")
	line("- limit is at most %d. Page with offset, or follow the header Link.", contract.MaxLimit)
	line("- Name the application by app_identifier in the query or in the header %s: base64 of name:address.",
		m.Names.IdentifierHeader())
	line("- Places below country level are matched by code (admin1_code); names differ between sources.")
	line("- X-Data-Stale says that records are older than their source. Say how old the data are: X-Data-Updated.\n")
	line("Figures that people ask for, each defined once:\n")
	line("- GET %s%s/NAME?location_code=SDN has one figure with its period, provider and the request behind it. "+
		"value is null, never 0, where nothing is known; reason says what exists nearest.", base, contract.FiguresPath)
	line("- GET %s%s?location_code=SDN has all figures of a country.", base, contract.FiguresPath)
	for i := range contract.Headlines {
		h := &contract.Headlines[i]
		line("- %s (%s): %s %s", h.Name, h.Unit, h.Reading, h.NotThis)
	}
	line("\nWhat each list allows:\n")
	groups := map[string][]*contract.Endpoint{}
	var titles []string
	endpoints := contract.EndpointsIn(m.Names)
	for i := range endpoints {
		e := &endpoints[i]
		if groups[e.GroupTitle()] == nil {
			titles = append(titles, e.GroupTitle())
		}
		groups[e.GroupTitle()] = append(groups[e.GroupTitle()], e)
		if rules := append(e.SumRules(), nonEmpty(e.AddingUp())...); len(rules) > 0 {
			line("- %s: %s", e.Name(), strings.Join(rules, " "))
		}
	}
	for _, title := range titles {
		line("\n## %s\n", title)
		for _, e := range groups[title] {
			line("- [%s](%s/docs/%s): GET %s%s", e.Summary, base, e.Name(), base, e.Path)
		}
	}
	line("\n## Reference\n")
	line("- [Reference](%s/docs): every endpoint, filter and field", base)
	line("- [OpenAPI 3.1](%s%s): the same for programs", base, m.AllDescribed())
	line("- [Status](%s/status): the served snapshot, the age and licence of each source", base)
	line("\n## Optional\n")
	line("- [What changed](%s/changelog): tables and sources that each snapshot changed", base)
	line("- [Records for people](%s/browse/%s): a page for each list, with counts, charts and maps", base,
		endpoints[len(endpoints)-1].Name())
	return b.String()
}

// nonEmpty is a list of one text, or of none.
func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// robotsText keeps crawlers out of the endless combinations of filters.
func robotsText(base string) string {
	return "User-agent: *\nDisallow: /*?\nSitemap: " + base + SitemapPath + "\n"
}

// sitemap lists the pages without parameters.
func sitemap(m *list.Mount, base string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	add := func(path string) { b.WriteString("<url><loc>" + escapedXML(base+m.Prefix+path) + "</loc></url>\n") }
	for _, path := range []string{"/", DocsPath, identifierPath, StatusPath, ChangelogPath} {
		add(path)
	}
	for _, e := range contract.EndpointsIn(m.Names) {
		add(BrowsePath + e.Name())
		add(DocsPath + "/" + e.Name())
	}
	b.WriteString("</urlset>\n")
	return b.String()
}

// addTexts registers what programs that visit pages look for. They have whole addresses in them.
func (s *Site) addTexts(m *list.Mount) {
	add := func(path, contentType string, write func(base string) string) {
		head := list.NewPageHead(contentType, reply.DataPolicy, reply.PageKey, s.landingFields()...)
		const here = "{address}"
		made := sync.OnceValue(func() string { return write(here) })
		s.Add(m, path, list.Route{Name: path, Handler: func(ctx *fasthttp.RequestCtx) {
			body := strings.ReplaceAll(made(), here, escapedXML(s.BaseOf(ctx)))
			s.SendPage(ctx, &head, []byte(body))
		}})
	}
	add(LlmsPath, textType, func(base string) string { return llmsText(m, base+m.Prefix) })
	if m.Prefix == "" {
		add(RobotsPath, textType, robotsText)
		add(SitemapPath, xmlType, func(base string) string { return sitemap(m, base) })
	}
}
