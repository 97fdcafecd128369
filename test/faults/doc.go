// Package faults checks what docs/reliability.md promises, whatever fails: `make
// test` in a short form, `make soak` in full.
package faults
