// Package wire is what HTTP/1.1 needs of a server and fasthttp lacks: it wraps listeners and
// connections. It knows no path and no data.
package wire
