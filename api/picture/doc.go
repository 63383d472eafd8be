// Package picture draws a figure as a picture that can leave its page: with its title, what it is
// of, who provides it, and its address. A picture is drawn as SVG or as PNG from the same shapes:
// those of the drawings of package chart, whose classes become colours. Letters are shaped with
// fonts of our own, so that Arabic is joined and runs from right to left.
package picture
