// Package api answers the two Lambda events of the service: [CreatePlant] answers
// POST /plants, and [Authorizer] the Lambda authorizer's event that precedes it.
//
// Every answer is the specification's: 200 with a Plant, or 400 with an Error of
// the catalogue, whatever comes in and whatever fails. Each request is logged in
// one line, without a token, a header or a body.
//
// Both handlers take the bytes of the event and have the Invoke method of
// aws-lambda-go's Handler, so that package main passes them on as they are.
package api
