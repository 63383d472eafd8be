// Package encode chooses the content coding of a body and compresses it. It knows bytes and fragments, no HTTP.
package encode
