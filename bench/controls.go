package main

import (
	"flag"
	"mime"
	"os"
	"path/filepath"

	"github.com/valyala/fasthttp"
)

// sendFixed is the command fixed: the server's HTTP library with bodies in memory.
func sendFixed(flags *flag.FlagSet, args []string) error {
	listen := flags.String("listen", "127.0.0.1:8080", "address to listen on")
	dir := flags.String("dir", "", "directory of the bodies; the path of each is /NAME")
	if err := parse(flags, args); err != nil {
		return err
	}
	entries, err := os.ReadDir(*dir)
	if err != nil {
		return err
	}
	bodies := map[string][]byte{}
	for _, entry := range entries {
		if bodies["/"+entry.Name()], err = os.ReadFile(filepath.Join(*dir, entry.Name())); err != nil {
			return err
		}
	}
	server := fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
		path := string(ctx.Path())
		body, ok := bodies[path]
		if !ok {
			ctx.NotFound()
			return
		}
		ctx.SetContentType(mime.TypeByExtension(filepath.Ext(path)))
		ctx.Response.SetBodyRaw(body)
	}}
	return server.ListenAndServe(*listen)
}
