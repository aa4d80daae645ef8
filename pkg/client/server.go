package client

import (
	"context"
	"net/http"
	"time"
)

// ServerToken is the token of one game server.
type ServerToken struct {
	Token string
	// Expires is when it is good no more.
	Expires time.Time
}

// RenewServerToken gives a game server its next token for the one that it calls with, which must be good still and one
// that it got with its allocation. Status 403 means that the allocation has ended. A [RenewedToken] renews by itself.
func (c *Client) RenewServerToken(ctx context.Context) (*ServerToken, error) {
	var got struct {
		Token   string `json:"token"`
		Expires int64  `json:"expires"`
	}
	r := &request{method: http.MethodPost, path: "v1/servers/token", repeatable: true}
	if _, err := c.do(ctx, r, &got); err != nil {
		return nil, err
	}
	return &ServerToken{Token: got.Token, Expires: time.UnixMilli(got.Expires)}, nil
}

// ServerTokens is a source for game servers: it begins with the token that the server got with its allocation, and
// renews it in time, with the service that the options name.
func ServerTokens(o Options, token string) TokenSource {
	return RenewedToken(token, func(ctx context.Context, token string) (string, error) {
		o := o
		o.Token = StaticToken(token)
		c, err := New(o)
		if err != nil {
			return "", err
		}
		next, err := c.RenewServerToken(ctx)
		if err != nil {
			return "", err
		}
		return next.Token, nil
	})
}
