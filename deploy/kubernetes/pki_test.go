package kubernetes

import (
	"crypto"
	"crypto/x509"
	"fmt"
	"net"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/pkiutil"
)

// authority issues certificates as kubeadm does.
type authority struct {
	dir, name   string
	certificate *x509.Certificate
	key         crypto.Signer
}

func config(name string, organizations ...string) *pkiutil.CertConfig {
	return &pkiutil.CertConfig{
		Config:              cert.Config{CommonName: name, Organization: organizations},
		EncryptionAlgorithm: kubeadm.EncryptionAlgorithmECDSAP256,
	}
}

// newAuthority makes an authority, whose certificate is in the folder.
func newAuthority(dir, name string) (*authority, error) {
	certificate, key, err := pkiutil.NewCertificateAuthority(config(name))
	if err != nil {
		return nil, err
	}
	a := &authority{dir: dir, name: name, certificate: certificate, key: key}
	return a, pkiutil.WriteCert(dir, name, certificate)
}

// file is the authority's certificate.
func (a *authority) file() string { return filepath.Join(a.dir, a.name+".crt") }

// bundle is the authority's certificate in PEM.
func (a *authority) bundle() []byte { return pkiutil.EncodeCertPEM(a.certificate) }

// server writes name.crt and name.key for a server, replacing what is there.
func (a *authority) server(name string, addresses []net.IP, hosts ...string) error {
	c := config(name)
	c.AltNames = cert.AltNames{DNSNames: hosts, IPs: addresses}
	c.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	return a.write(c, name)
}

// client writes name.crt and name.key for a user and groups.
func (a *authority) client(name, user string, groups ...string) error {
	c := config(user, groups...)
	c.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.write(c, name)
}

func (a *authority) write(c *pkiutil.CertConfig, name string) error {
	certificate, key, err := pkiutil.NewCertAndKey(a.certificate, a.key, c)
	if err != nil {
		return fmt.Errorf("certificate of %s: %w", name, err)
	}
	return pkiutil.WriteCertAndKey(a.dir, name, certificate, key)
}

// kubeconfig writes name.conf for the user of name.crt.
func (a *authority) kubeconfig(name string) (string, error) {
	all := clientcmdapi.NewConfig()
	all.Clusters["test"] = &clientcmdapi.Cluster{Server: "https://" + address + ":6443", CertificateAuthority: a.file()}
	all.AuthInfos["test"] = &clientcmdapi.AuthInfo{
		ClientCertificate: filepath.Join(a.dir, name+".crt"), ClientKey: filepath.Join(a.dir, name+".key"),
	}
	all.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	all.CurrentContext = "test"
	file := filepath.Join(a.dir, name+".conf")
	return file, clientcmd.WriteToFile(*all, file)
}
