package api

import (
	"github.com/valyala/fasthttp"

	"hdqs/api/wire"
)

// Limits of the listeners.
const (
	MaxURI     = maxURI
	MaxBody    = maxBody
	ReadBuffer = readBuffer
)

// Handle is handle.
func (s *Server) Handle(ctx *fasthttp.RequestCtx) { s.handle(ctx) }

// HandlePublic is handlePublic.
func (s *Server) HandlePublic(ctx *fasthttp.RequestCtx) { s.handlePublic(ctx) }

// AnswerUnread is answerUnread.
func (s *Server) AnswerUnread(ctx *fasthttp.RequestCtx, err error) { s.answerUnread(ctx, err) }

// ConnectionLimits is connectionLimits.
func (s *Server) ConnectionLimits() wire.Options { return s.connectionLimits() }
