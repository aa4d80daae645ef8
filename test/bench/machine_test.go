package main

import (
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	m := describe(t.Context())
	if m.Processors < 1 || m.Go == "" || m.System == "" {
		t.Errorf("%+v", m)
	}
	if !strings.Contains(m.Redis, ".") || !strings.Contains(m.NATS, ".") {
		t.Errorf("Redis %q and NATS %q have no versions", m.Redis, m.NATS)
	}
	if got := field("a:\t1\nmodel name\t: Some  Thing: 2\nmodel name: other\n", "model name"); got != "Some Thing: 2" {
		t.Errorf("the model is %q", got)
	}
}
