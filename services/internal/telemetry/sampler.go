package telemetry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// NewProvider makes a provider that samples root spans as root says, and all others as their parent or their links were
// sampled: a cycle that serves a sampled ticket is recorded, though it is no child of it.
func NewProvider(root sdktrace.Sampler, o ...sdktrace.TracerProviderOption) *sdktrace.TracerProvider {
	return sdktrace.NewTracerProvider(append(o, sdktrace.WithSampler(linkSampler{sdktrace.ParentBased(root)}),
		sdktrace.WithIDGenerator(idGenerator{}))...)
}

// samplerOptions is what OTEL_TRACES_SAMPLER asks for. Samplers that ignore parents ignore links too: those are the
// SDK's own.
func samplerOptions() ([]sdktrace.TracerProviderOption, error) {
	name := strings.ToLower(strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER")))
	var root sdktrace.Sampler
	switch name {
	case "", "parentbased_always_on":
		root = sdktrace.AlwaysSample()
	case "parentbased_always_off":
		root = sdktrace.NeverSample()
	case "parentbased_traceidratio":
		root = sdktrace.AlwaysSample()
		if arg := os.Getenv("OTEL_TRACES_SAMPLER_ARG"); arg != "" {
			ratio, err := strconv.ParseFloat(arg, 64)
			if err != nil || ratio < 0 || ratio > 1 {
				return nil, fmt.Errorf("telemetry: OTEL_TRACES_SAMPLER_ARG is %q: a number from 0 to 1 is needed", arg)
			}
			root = sdktrace.TraceIDRatioBased(ratio)
		}
	case "always_on", "always_off", "traceidratio":
		return []sdktrace.TracerProviderOption{sdktrace.WithIDGenerator(idGenerator{})}, nil
	default:
		return nil, fmt.Errorf("telemetry: OTEL_TRACES_SAMPLER is %q: "+
			"always_on, always_off, traceidratio, and parentbased_ with one of these are supported", name)
	}
	return []sdktrace.TracerProviderOption{sdktrace.WithSampler(linkSampler{sdktrace.ParentBased(root)}),
		sdktrace.WithIDGenerator(idGenerator{})}, nil
}

// linkSampler samples a root span that links to a sampled one.
type linkSampler struct{ sdktrace.Sampler }

func (l linkSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	parent := trace.SpanContextFromContext(p.ParentContext)
	if !parent.IsValid() {
		for _, to := range p.Links {
			if to.SpanContext.IsSampled() {
				return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample, Tracestate: parent.TraceState()}
			}
		}
	}
	return l.Sampler.ShouldSample(p)
}

func (l linkSampler) Description() string { return "Linked{" + l.Sampler.Description() + "}" }

// reservedKey is the key of the span whose ids Restart uses again.
type reservedKey struct{}

// idGenerator makes random ids, except for reserved ones.
type idGenerator struct{}

func (idGenerator) NewIDs(ctx context.Context) (t trace.TraceID, s trace.SpanID) {
	if of, ok := ctx.Value(reservedKey{}).(trace.SpanContext); ok && of.IsValid() {
		return of.TraceID(), of.SpanID()
	}
	for !t.IsValid() {
		randomize(t[:])
	}
	for !s.IsValid() {
		randomize(s[:])
	}
	return t, s
}

func (idGenerator) NewSpanID(ctx context.Context, t trace.TraceID) (s trace.SpanID) {
	if of, ok := ctx.Value(reservedKey{}).(trace.SpanContext); ok && of.IsValid() && of.TraceID() == t {
		return of.SpanID()
	}
	for !s.IsValid() {
		randomize(s[:])
	}
	return s
}

func randomize(id []byte) {
	for i := 0; i < len(id); i += 8 {
		n := rand.Uint64() //nolint:gosec // an id, not a secret
		for j := range 8 {
			id[i+j] = byte(n >> (8 * j))
		}
	}
}
