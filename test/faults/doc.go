// Package reliability proves that a client learns the truth about its plant:
// whatever fails, no plant is lost or doubled, none is falsely refused, and every
// request is answered before its deadline. docs/reliability.md tells what is
// shown; `make test` runs each proof in a short form, `make soak` in full.
package reliability
