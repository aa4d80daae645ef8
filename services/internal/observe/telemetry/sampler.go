package telemetry

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// NewProvider makes a provider that samples root spans as root says, and all others as their parent or their links were
// sampled: a cycle that serves a sampled ticket is recorded, though it is no child of it.
func NewProvider(root sdktrace.Sampler, o ...sdktrace.TracerProviderOption) *sdktrace.TracerProvider {
	return sdktrace.NewTracerProvider(append(o, sdktrace.WithSampler(linkSampler{sdktrace.ParentBased(root)}),
		sdktrace.WithIDGenerator(idGenerator{}))...)
}

// NewUnlinkedProvider makes a provider that samples as the SDK reads it from the environment: samplers that ignore
// parents ignore links too.
func NewUnlinkedProvider(o ...sdktrace.TracerProviderOption) *sdktrace.TracerProvider {
	return sdktrace.NewTracerProvider(append(o, sdktrace.WithIDGenerator(idGenerator{}))...)
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
		binary.LittleEndian.PutUint64(id[i:], rand.Uint64()) //nolint:gosec // an id, not a secret
	}
}
