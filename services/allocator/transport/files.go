package transport

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"matchmaker.dev/services/internal/platform/textfile"
)

func (c *Client) read() (files, error) {
	var f files
	for _, one := range []struct {
		path string
		data []byte
		into *[]byte
	}{
		{c.options.CA, c.options.CAData, &f.ca}, {c.options.Certificate, c.options.CertificateData, &f.certificate},
		{c.options.Key, c.options.KeyData, &f.key},
	} {
		if len(one.data) > 0 {
			*one.into = one.data
			continue
		}
		if one.path == "" {
			continue
		}
		text, err := textfile.Read(one.path)
		if err != nil {
			return files{}, err
		}
		*one.into = text
	}
	return f, nil
}

func (f files) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(f.ca) {
			return nil, fmt.Errorf("the CA file has no certificate in PEM")
		}
	}
	if f.certificate != nil {
		pair, err := tls.X509KeyPair(f.certificate, f.key)
		if err != nil {
			return nil, fmt.Errorf("certificate and key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
