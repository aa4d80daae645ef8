package bus

import (
	"cmp"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/textfile"
)

// connection returns the options of the client and its login.
func (b *Bus) connection(o Options) ([]nats.Option, error) {
	login, err := o.Server.login()
	if err != nil {
		return nil, err
	}
	if o.Login.Given() {
		login = o.Login
	}
	options := []nats.Option{
		nats.Name(o.Name),
		nats.CustomInboxPrefix(inboxes + b.options.Service),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.PingInterval(cmp.Or(o.Pulse, pulse)),
		nats.MaxPingsOutstanding(missed),
		// A user that is refused may be let in later: when its password was changed, say, here or there.
		nats.IgnoreAuthErrorAbort(),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			switch {
			case errors.Is(err, nats.ErrAuthorization): // the attempt to connect fails of it as well
			case errors.Is(err, nats.ErrPermissionViolation):
				b.log.Error("message bus: NATS does not permit this user what the service does: "+
					"'matchmaker permissions nats' prints what it needs", "error", err)
			default:
				subject := ""
				if sub != nil {
					subject = sub.Subject
				}
				b.log.Warn("message bus", "error", err, "subject", subject)
			}
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				b.log.Warn("message bus lost, reconnecting", "error", err)
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { b.fails(err) }),
		nats.ConnectHandler(func(*nats.Conn) { b.connError.Store(nil) }),
		nats.ReconnectHandler(func(*nats.Conn) {
			b.connError.Store(nil)
			b.log.Info("message bus is back")
			b.restore()
		}),
	}
	if login.Given() {
		options = append(options, nats.UserInfoHandler(func() (user, password string) {
			password, err := login.Secret()
			if err != nil {
				b.fails(err)
			}
			return login.User, password
		}))
	}
	if o.Server.Credentials != "" {
		options = append(options, credentials(o.Server.Credentials))
	}
	if o.Server.NKey != "" {
		key, err := nkey(o.Server.NKey)
		if err != nil {
			return nil, problem.Wrap(problem.Invalid, err, "nats: %s holds no seed of a user's NKey", o.Server.NKey)
		}
		options = append(options, key)
	}
	if o.Server.CA != "" {
		options = append(options, nats.RootCAs(o.Server.CA))
	}
	if o.Server.Cert != "" || o.Server.Key != "" {
		options = append(options, nats.ClientCert(o.Server.Cert, o.Server.Key))
	}
	return options, nil
}

// fails gets every failed attempt to connect, and logs it when the reason is another than before.
func (b *Bus) fails(err error) {
	why := explain(err)
	if before := b.connError.Swap(&why); before != nil && *before == why {
		return
	}
	if why == notConnected {
		b.log.Warn("message bus: no server answers", "error", err)
		return
	}
	b.log.Error("message bus: "+why, "error", err)
}

// explain tells operators what to do about an error of a connection.
func explain(err error) string {
	causes := []account.Cause{
		{
			Errors: []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired},
			Texts:  []string{"Authorization Violation", "authentication error", "user and password"},
			Advice: "NATS refuses this user: look at --nats-user and --nats-password, --nats-credentials or --nats-nkey, or " +
				"what is before the @ of --nats",
		},
		{
			Errors: []error{nats.ErrNkeysNotSupported}, Texts: []string{"nkey"},
			Advice: "NATS does not know this kind of user: look at --nats-nkey and --nats-credentials",
		},
		{
			Errors: []error{nats.ErrSecureConnWanted},
			Advice: "NATS does not speak TLS there: the URL of --nats must begin with nats instead of tls, and --nats-ca, " +
				"--nats-cert and --nats-key go with TLS only",
		},
	}
	return account.Server{Name: "NATS", Flag: "nats"}.Explain(err, causes, notConnected)
}

const notConnected = "the message bus is not connected"

// credentials reads a credentials file for each connection: it may have been replaced.
func credentials(file string) nats.Option {
	read := func() (o nats.Options, err error) {
		text, err := textfile.Read(file)
		if err == nil {
			err = nats.UserCredentialBytes(text)(&o)
		}
		return o, err
	}
	return nats.UserJWT(func() (string, error) {
		o, err := read()
		if err != nil {
			return "", err
		}
		return o.UserJWT()
	}, func(nonce []byte) ([]byte, error) {
		o, err := read()
		if err != nil {
			return nil, err
		}
		return o.SignatureCB(nonce)
	})
}

// nkey signs with the seed in a file.
func nkey(file string) (nats.Option, error) {
	read := func() (nkeys.KeyPair, error) {
		text, err := textfile.Read(file)
		if err != nil {
			return nil, err
		}
		return nkeys.ParseDecoratedNKey(text)
	}
	pair, err := read()
	if err != nil {
		return nil, err
	}
	defer pair.Wipe()
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	if !nkeys.IsValidPublicUserKey(public) {
		return nil, errors.New("the seed is not a user's")
	}
	return nats.Nkey(public, func(nonce []byte) ([]byte, error) {
		pair, err := read()
		if err != nil {
			return nil, err
		}
		defer pair.Wipe()
		return pair.Sign(nonce)
	}), nil
}
