package dynamo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	_ "embed" // for amazon-roots.pem
	"log/slog"
	"net"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/budget"
)

// amazonRoots are the root certificates of Amazon's certificate authorities. The system has a hundred more, which
// Go would parse for the first TLS connection: a cold start would take twice as long. Source:
// https://www.amazontrust.com/repository/.
//
//go:embed amazon-roots.pem
var amazonRoots []byte

// amazonSigns reports whether Amazon's roots sign the certificate of the DynamoDB of cfg: AWS's own,
// under amazonaws.com. China, the isolated regions and the sovereign cloud may have other roots.
func amazonSigns(cfg aws.Config) bool {
	if cfg.BaseEndpoint != nil {
		return false
	}
	parameters := dynamodb.EndpointParameters{Region: &cfg.Region}
	endpoint, err := dynamodb.NewDefaultEndpointResolverV2().ResolveEndpoint(context.Background(), parameters)
	return err == nil && strings.HasSuffix(endpoint.URI.Host, ".amazonaws.com")
}

// amazonFirst opens TLS connections to a server whose certificate Amazon's roots sign. If they did not
// sign it, it tries the system's roots, because AWS may change its own.
type amazonFirst struct {
	amazon, system tls.Dialer // by the roots that they trust
	log            *slog.Logger
	warned         sync.Once
}

func newAmazonFirst(log *slog.Logger) *amazonFirst {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(amazonRoots)
	dialer := &net.Dialer{Timeout: budget.AttemptTimeout}
	return &amazonFirst{
		amazon: tls.Dialer{NetDialer: dialer, Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
		system: tls.Dialer{NetDialer: dialer, Config: &tls.Config{MinVersion: tls.VersionTLS12}},
		log:    log,
	}
}

// dial is for [http.Transport.DialTLSContext].
func (d *amazonFirst) dial(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := d.amazon.DialContext(ctx, network, address)
	if err == nil || !causedBy[x509.UnknownAuthorityError](err) {
		return connection, err
	}
	d.warned.Do(func() {
		d.log.Warn("no embedded root signed the certificate of DynamoDB; trying the system's roots", "error", err.Error())
	})
	return d.system.DialContext(ctx, network, address)
}
