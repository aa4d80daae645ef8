package ticket

// What browsers may send from pages of allowed origins, and read of answers.
const (
	allowedMethods = "GET, HEAD, POST, DELETE"
	allowedHeaders = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, Traceparent, " +
		"X-Correlation-Id, X-On-Behalf-Of"
	exposedHeaders = "Location, Preference-Applied, Retry-After, X-Correlation-Id"
)
