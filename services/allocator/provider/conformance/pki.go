package conformance

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority issues certificates for hosting systems and their clients.
type Authority struct {
	// File holds the authority's certificate in PEM.
	File        string
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

// NewAuthority makes an authority that only the test trusts.
func NewAuthority(t *testing.T) *Authority {
	t.Helper()
	a := &Authority{File: filepath.Join(t.TempDir(), "ca.crt")}
	template := template("authority", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	a.key = newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	write(t, a.File, "CERTIFICATE", der)
	return a
}

// Pool trusts the authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Server is a certificate for 127.0.0.1 that expires at a time.
func (a *Authority) Server(t *testing.T, expires time.Time) tls.Certificate {
	t.Helper()
	der, key := a.issue(t, "server", expires)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Client writes a client's certificate and its key into two files, replacing what is there.
func (a *Authority) Client(t *testing.T, certificate, key string, expires time.Time) {
	t.Helper()
	der, private := a.issue(t, "client", expires)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write(t, certificate, "CERTIFICATE", der)
	write(t, key, "PRIVATE KEY", encoded)
}

func (a *Authority) issue(t *testing.T, name string, expires time.Time) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	template := template(name, expires.Add(-time.Hour), expires)
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return der, key
}

func template(name string, from, to time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: to,
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func write(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
