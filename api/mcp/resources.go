package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hdqs/api/contract"
	"hdqs/api/state"
)

// addResources adds what agents may read besides calling tools: answers of the interface as they
// are.
func (s *Server) addResources() {
	for path, r := range map[string]*mcp.Resource{
		state.SourcesPath: {
			URI: "hdqs://coverage", Name: "coverage", Title: "Coverage", MIMEType: contract.JSONType,
			Description: "What each list covers: records, period, age, datasets and licences",
		},
		"/llms.txt": {
			URI: "hdqs://dictionary", Name: "dictionary", Title: "Data dictionary", MIMEType: "text/plain",
			Description: "Lists, headline figures, and what may be added up",
		},
	} {
		s.AddResource(r, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
				{URI: r.URI, MIMEType: r.MIMEType, Text: string(visible(s.of.Page(path)))},
			}}, nil
		})
	}
}
