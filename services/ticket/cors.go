package ticket

// What browsers may send from pages of allowed origins, and read of answers.
const (
	allowedMethods = "GET, HEAD, POST, DELETE"
	allowedHeaders = "Authorization, Baggage, Cache-Control, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, " +
		"Traceparent, Tracestate, X-Correlation-Id, X-On-Behalf-Of"
	exposedHeaders = "Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-Correlation-Id"
)
