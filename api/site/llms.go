package site

import (
	"bytes"
	"encoding/xml"
	"sync"
	"text/template"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/web"
)

// Paths of texts for programs.
const (
	llmsPath    = "/llms.txt"
	robotsPath  = "/robots.txt"
	sitemapPath = "/sitemap.xml"

	textType = "text/plain; charset=utf-8"
	xmlType  = "application/xml; charset=utf-8"
)

// texts are the templates of texts for programs, which escape nothing by themselves.
var texts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"xml":   escapedXML,
		"title": func() string { return browse.ServiceTitle }, "rules": sumRules,
		"change": func(c changeOnPage) (string, error) {
			text, err := rendered(pagesIn(lang.All()[0]), "change", &c)
			return string(text), err
		},
	}).ParseFS(web.Templates, "*.txt", "*.xml", "*.atom"))
})

func escapedXML(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer has no errors
	return b.String()
}

// llmsText is what a language model should know before it sends requests.
func llmsText(m *list.Mount, host string) ([]byte, error) {
	endpoints := contract.EndpointsIn(m.Names)
	return rendered(texts(), "llms.txt", map[string]any{
		"Host": host, "Mount": m, "Endpoints": endpoints, "Groups": pageGroups(m, nil),
		"Last":    endpoints[len(endpoints)-1].Name(),
		"Figures": contract.Headlines, "FiguresPath": contract.FiguresPath, "MaxLimit": contract.MaxLimit,
		"Version": contract.InterfaceVersion, "TotalHeader": contract.HeaderTotal,
	})
}

// sumRules are what an endpoint allows of sums, in sentences.
func sumRules(e *contract.Endpoint) string {
	return contract.Sentences(append(e.Texts().SumRules(), e.Texts().AddingUp())...)
}

// robotsText keeps crawlers out of the endless combinations of filters.
func robotsText(_ *list.Mount, host string) ([]byte, error) {
	return []byte("User-agent: *\nDisallow: /*?\nSitemap: " + host + sitemapPath + "\n"), nil
}

// sitemap lists the pages without parameters.
func sitemap(m *list.Mount, host string) ([]byte, error) {
	var all []string
	for _, path := range []string{"/", countryPath, docsPath, identifierPath, statusPath, changelogPath} {
		all = append(all, host+m.Prefix+path)
	}
	for _, e := range contract.EndpointsIn(m.Names) {
		all = append(all, host+m.Prefix+browsePath+e.Name(), host+m.Prefix+docsPath+"/"+e.Name())
	}
	return rendered(texts(), "sitemap.xml", all)
}

// addTexts registers what programs that visit pages look for. They have whole addresses in them.
func (s *Site) addTexts(m *list.Mount) {
	add := func(path, contentType string, write func(m *list.Mount, host string) ([]byte, error)) {
		head := list.NewPageHead(contentType, reply.DataPolicy, reply.PageKey, s.landingFields()...)
		const here = "{address}"
		made := sync.OnceValue(func() []byte {
			text, err := write(m, here)
			if err != nil {
				panic(err) // the templates are part of the program
			}
			return text
		})
		s.Lists.Routes.Add(m, path, list.Route{Name: path, Answer: func(ctx *fasthttp.RequestCtx) error {
			base := []byte(escapedXML(s.Lists.Pages.BaseOf(ctx)))
			return s.Lists.Pages.Send(ctx, &head, list.Made(bytes.ReplaceAll(made(), []byte(here), base)))
		}})
	}
	add(llmsPath, textType, llmsText)
	if m.Prefix == "" {
		add(robotsPath, textType, robotsText)
		add(sitemapPath, xmlType, sitemap)
	}
}
