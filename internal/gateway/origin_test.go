package gateway_test

import (
	"testing"

	"plantstore/internal/gateway"
)

func TestCheckOrigin(t *testing.T) {
	const noOrigin = "must be an origin, for example http://localhost:5173, or *"
	sent := func(origin string) string { return "must be an origin as browsers send it, here " + origin }
	for _, test := range []struct {
		name, origin string
		want         string // the error, "" for none
	}{
		{name: "every origin", origin: "*"},
		{name: "every http origin", origin: "http://*"},
		{name: "every https origin", origin: "https://*"},
		{name: "a host", origin: "https://www.good-1.example"},
		{name: "a host and a port", origin: "http://localhost:5173"},
		{name: "an IPv6 address", origin: "http://[::1]:5173"},
		{name: "the default port of the other scheme", origin: "https://x:80"},

		{name: "a host in upper case", origin: "https://GOOD.example", want: sent("https://good.example")},
		{name: "the default port of http", origin: "http://x:80", want: sent("http://x")},
		{name: "the default port of https", origin: "https://x:443", want: sent("https://x")},
		{name: "an empty port", origin: "http://x:", want: sent("http://x")},
		{name: "a slash at the end", origin: "https://x/", want: sent("https://x")},

		{name: "no scheme", origin: "localhost:5173", want: noOrigin},
		{name: "another scheme", origin: "ftp://x", want: noOrigin},
		{name: "no host", origin: "http://:5173", want: noOrigin},
		{name: "a host that is not ASCII", origin: "https://ü.example", want: noOrigin},
		{name: "a wildcard for a part of the host", origin: "https://*.example", want: noOrigin},
		{name: "no URL", origin: "https://x:port", want: `parse "https://x:port": invalid port ":port" after host`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if err := gateway.CheckOrigin(test.origin); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("CheckOrigin(%q) = %q, want %q", test.origin, got, test.want)
			}
		})
	}
}
