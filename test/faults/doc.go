// Package faults checks what docs/reliability.md promises: whatever fails, no
// plant is lost, stored twice or wrongly refused, and every request is answered
// before its deadline. `make test` runs each check in a short form, `make soak`
// in full.
package faults
