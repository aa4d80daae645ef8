// Package otlp sends spans and metrics to an OpenTelemetry collector, by OTLP: protobuf over HTTP. The
// OTEL_EXPORTER_OTLP_… variables of the OpenTelemetry specification configure it. The exporters of OpenTelemetry for Go
// do the same, but link gRPC: https://github.com/open-telemetry/opentelemetry-go/issues/2579.
//
//	client.go        sends a request, again where the collector asks for it
//	environment.go   makes a client from the variables
//	spans.go         the exporter of spans
//	metrics.go       the exporter of metrics
//	attributes.go    attributes, resources and scopes as messages
package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"matchmaker.dev/services/internal/platform/wait"
)

const (
	contentType = "application/x-protobuf"
	maxResponse = 64 << 10 // bytes of a response that are read
	maxText     = 500      // bytes of a response that an error shows
)

// client sends the requests of one signal. Both exporters embed it for Shutdown.
type client struct {
	url     *url.URL
	header  http.Header
	gzip    bool
	timeout time.Duration // of a request, with its retries
	http    *http.Client
	closed  atomic.Bool
}

// Shutdown makes later exports fail. The SDK calls it after the last export.
func (c *client) Shutdown(ctx context.Context) error {
	c.closed.Store(true)
	c.http.CloseIdleConnections()
	return ctx.Err()
}

// retryableError is a failure after which the same request may succeed.
type retryableError struct {
	error
	after time.Duration // the shortest pause that the collector asks for
}

// send sends a request until the collector has taken or refused it, or there is no time for another try. It returns an
// error too when the collector takes only a part.
func (c *client) send(ctx context.Context, request proto.Message) error {
	if c.closed.Load() {
		return errors.New("the exporter is shut down")
	}
	body, err := c.encode(request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	end, _ := ctx.Deadline()
	// The pauses of OpenTelemetry's exporter for Java: Go's are too long for the usual timeout.
	pauses := backoff.ExponentialBackOff{
		InitialInterval: time.Second, MaxInterval: 5 * time.Second, Multiplier: 1.5, RandomizationFactor: 0.2,
	}
	for {
		err := c.post(ctx, body)
		if err == nil {
			return nil
		}
		if again, ok := errors.AsType[retryableError](err); ok {
			pause := max(again.after, pauses.NextBackOff())
			if pause < time.Until(end) && wait.For(ctx, pause) == nil {
				continue
			}
		}
		// The query and the user of the URL may be secret.
		return fmt.Errorf("%s: %w", &url.URL{Scheme: c.url.Scheme, Host: c.url.Host, Path: c.url.Path}, err)
	}
}

func (c *client) encode(request proto.Message) ([]byte, error) {
	body, err := proto.Marshal(request)
	if err != nil || !c.gzip {
		return body, err
	}
	var small bytes.Buffer
	to := gzip.NewWriter(&small)
	_, err = to.Write(body)
	err = errors.Join(err, to.Close())
	return small.Bytes(), err
}

func (c *client) post(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = c.header.Clone()
	response, err := c.http.Do(request)
	if err != nil {
		if at, ok := errors.AsType[*url.Error](err); ok {
			err = at.Err // without the URL
		}
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) { // closed without a response
			return retryableError{error: err}
		}
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return err
	}
	isProto := strings.HasPrefix(response.Header.Get("Content-Type"), contentType)
	if response.StatusCode/100 == 2 {
		if !isProto {
			return nil
		}
		return partialSuccess(text)
	}
	err = fmt.Errorf("%s: %.*s", response.Status, maxText, message(text, isProto))
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryableError{err, wait.RetryAfter(response.Header, time.Now())}
	}
	return err
}

// partialSuccess returns what a response says about the part that the collector rejected. The responses for spans and
// for metrics have the same encoding.
func partialSuccess(text []byte) error {
	var response collectorpb.ExportTraceServiceResponse
	if err := proto.Unmarshal(text, &response); err != nil {
		return fmt.Errorf("response: %w", err)
	}
	part := response.GetPartialSuccess()
	if part.GetRejectedSpans() == 0 && part.GetErrorMessage() == "" {
		return nil
	}
	return fmt.Errorf("%d rejected: %.*s", part.GetRejectedSpans(), maxText, part.GetErrorMessage())
}

// message returns the text of a failed response. As protobuf that is a google.rpc.Status, whose first two members, a
// number and the text, have the encoding of a partial success.
func message(text []byte, isProto bool) string {
	var status collectorpb.ExportTracePartialSuccess
	if isProto && proto.Unmarshal(text, &status) == nil {
		return status.GetErrorMessage()
	}
	return strings.TrimSpace(string(text))
}
