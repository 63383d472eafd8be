package odata

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
)

// Files that open a set in other programs: Power BI takes a list of connections (.pbids), Excel a
// connection with a query (.odc).
const (
	connectionFile = "hdqs.pbids"
	workbookEnding = ".odc"
)

// powerQuery is the query of Power Query that reads a set. base is the address of the service.
func powerQuery(base, set string) string {
	return "let\n  Source = OData.Feed(\"" + base + "\", null, [Implementation = \"2.0\"]),\n" +
		"  Records = Source{[Name = \"" + set + "\", Signature = \"table\"]}[Data]\nin\n  Records"
}

// answerFile answers with such a file.
func (s *Service) answerFile(ctx *fasthttp.RequestCtx, name string) error {
	if _, err := readOptions(ctx, nil); err != nil {
		return err
	}
	base := s.sender.BaseOf(ctx)
	body, contentType := []byte(nil), contract.JSONType
	if name == connectionFile {
		details := map[string]any{"protocol": "odata", "address": map[string]string{"url": base}}
		connection := map[string]any{"details": details, "options": map[string]any{}, "mode": "Import"}
		var err error
		if body, err = json.Marshal(map[string]any{"version": "0.1", "connections": []any{connection}}); err != nil {
			return err
		}
	} else {
		of, err := s.setOf(strings.TrimSuffix(name, workbookEnding))
		if err != nil {
			return err
		}
		body, contentType = connection(base, of), "text/x-ms-odc; charset=utf-8"
	}
	err := s.sender.Send(ctx, contentType, list.Made(body))
	h := &ctx.Response.Header
	h.SetCanonical(reply.NameDisposition, fmt.Appendf(nil, "attachment; filename=%q", name))
	s.sender.SetPolicy(h, false)
	return err
}

//go:embed connection.odc
var connectionText string

// connection is a connection of Excel to a set, as Excel writes it (Data, Queries & Connections,
// Export).
func connection(base string, of *set) []byte {
	query := `<Mashup xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ` +
		`xmlns="http://schemas.microsoft.com/DataMashup"><Client>EXCEL</Client><Version>2.55.5010.641</Version>` +
		`<MinVersion>1.5.3296.0</MinVersion><Culture>en-US</Culture><SafeCombine>true</SafeCombine><Items>` +
		`<Query Name="` + of.Name + `"><Formula><![CDATA[` + powerQuery(base, of.Name) + `]]></Formula>` +
		`<IsParameterQuery xsi:nil="true"/><IsDirectQuery xsi:nil="true"/></Query></Items></Mashup>`
	return []byte(strings.NewReplacer("{name}", of.Name, "{title}", xmlText(of.title), "{query}", xmlText(query)).
		Replace(connectionText))
}
