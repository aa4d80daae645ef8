package party

// What browsers may send from pages of allowed origins, and read of answers.
const (
	allowedMethods = "GET, HEAD, POST, PUT, DELETE"
	allowedHeaders = "Authorization, Baggage, Cache-Control, Content-Type, Idempotency-Key, If-None-Match, " +
		"Last-Event-ID, Prefer, Traceparent, Tracestate, X-Correlation-Id, X-On-Behalf-Of"
	exposedHeaders = "ETag, Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-Correlation-Id"
)
