package api

import "strings"

// bearer returns the token in the value of an Authorization header, by RFC 6750 section 2.1:
// `Bearer`, in any case, one or more spaces, and the token. It returns errTokenMissing for another
// scheme or none, and errTokenMalformed if what follows Bearer is not one token.
func bearer(authorization string) (string, error) {
	end := strings.IndexAny(authorization+" ", " \t")
	if !equalFold(authorization[:end], "Bearer") {
		return "", errTokenMissing
	}
	secret := strings.TrimLeft(authorization[end:], " ")
	if secret == "" || strings.Trim(secret, b64token) != "" {
		return "", errTokenMalformed
	}
	return secret, nil
}

// b64token holds the characters of a token by RFC 6750.
const b64token = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/="
