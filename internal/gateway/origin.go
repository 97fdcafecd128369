package gateway

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// CheckOrigin returns an error unless origin is *, http://* or https://*, or is written as browsers
// send it: the scheme, the host in lower case and ASCII, and the port if it is not the scheme's own.
func CheckOrigin(origin string) error {
	switch origin {
	case "*", "http://*", "https://*":
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil {
		return err
	}
	defaultPort, known := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	host := strings.ToLower(u.Host)
	foreign := strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-._:[]")
	if !known || u.Hostname() == "" || foreign != "" {
		return errors.New("must be an origin, for example http://localhost:5173, or *")
	}
	host = strings.TrimSuffix(host, defaultPort)
	host = strings.TrimSuffix(host, ":")
	if sent := u.Scheme + "://" + host; origin != sent {
		return fmt.Errorf("must be an origin as browsers send it, here %s", sent)
	}
	return nil
}
