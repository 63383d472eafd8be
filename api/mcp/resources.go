package mcp

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hdqs/api/contract"
	"hdqs/api/site"
)

// addResources adds what agents may read besides calling tools: answers of the interface as they
// are.
func (s *Server) addResources() {
	for path, r := range map[string]*mcp.Resource{
		site.SourcesPath: {
			URI: "hdqs://coverage", Name: "coverage", Title: "Coverage", MIMEType: contract.JSONType,
			Description: "What each list covers: records, period, age, datasets and licences",
		},
		site.LlmsPath: {
			URI: "hdqs://dictionary", Name: "dictionary", Title: "Data dictionary", MIMEType: "text/plain",
			Description: "Lists, headline figures, and what may be added up",
		},
	} {
		s.AddResource(r, func(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := &call{Server: s, Context: ctx}
			reply, err := s.of.Asker.Ask(ctx, s.of.Prefix+path, http.Header{})
			if err == nil && reply.Status != http.StatusOK {
				err = c.refused(reply)
			}
			if err != nil {
				return nil, err
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
				{URI: r.URI, MIMEType: r.MIMEType, Text: string(visible(reply.Body))},
			}}, nil
		})
	}
}
