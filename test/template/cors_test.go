package template

// cors is what API Gateway answers by itself to pages of AllowedOrigins.
const cors = `{"allowHeaders":["authorization","content-type","idempotency-key"],"allowMethods":["POST"],` +
	`"allowOrigins":{"Fn::Split":[",","${AllowedOrigins}"]},"exposeHeaders":["retry-after","idempotency-key","apigw-requestid"],"maxAge":7200}`
