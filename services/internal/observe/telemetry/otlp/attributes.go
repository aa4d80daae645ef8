package otlp

import (
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
)

// each returns what f makes of each of some values.
func each[A, B any](values []A, f func(A) B) []B {
	all := make([]B, len(values))
	for i, v := range values {
		all[i] = f(v)
	}
	return all
}

func resourceOf(r *resource.Resource) *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: each(r.Attributes(), keyValue)}
}

func scopeOf(s instrumentation.Scope) *commonpb.InstrumentationScope {
	return &commonpb.InstrumentationScope{Name: s.Name, Version: s.Version, Attributes: setOf(s.Attributes)}
}

func setOf(s attribute.Set) []*commonpb.KeyValue { return each(s.ToSlice(), keyValue) }

func keyValue(kv attribute.KeyValue) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: string(kv.Key), Value: value(kv.Value)}
}

func value(v attribute.Value) *commonpb.AnyValue {
	out := &commonpb.AnyValue{}
	switch v.Type() {
	case attribute.BOOL:
		out.Value = &commonpb.AnyValue_BoolValue{BoolValue: v.AsBool()}
	case attribute.INT64:
		out.Value = &commonpb.AnyValue_IntValue{IntValue: v.AsInt64()}
	case attribute.FLOAT64:
		out.Value = &commonpb.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}
	case attribute.STRING:
		out.Value = &commonpb.AnyValue_StringValue{StringValue: valid(v.AsString())}
	case attribute.STRINGSLICE:
		all := each(v.AsStringSlice(), func(text string) *commonpb.AnyValue { return value(attribute.StringValue(text)) })
		out.Value = &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: all}}
	case attribute.EMPTY:
	default: // no package makes others
		out.Value = &commonpb.AnyValue_StringValue{StringValue: valid(v.String())}
	}
	return out
}

// valid replaces what is not UTF-8: protobuf refuses a whole request for one such text.
func valid(text string) string { return strings.ToValidUTF8(text, "�") }

// nanoseconds returns the Unix time, 0 for a time that is not set.
func nanoseconds(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) }
