package client

import (
	"net/http"
	"testing"

	"matchmaker.dev/pkg/client/transporttest"
)

func TestConnectionThatDiesSilentlyIsReplaced(t *testing.T) {
	transporttest.ReplacesSilent(t, func() *http.Transport { return newHTTP().Transport.(*http.Transport) })
}
