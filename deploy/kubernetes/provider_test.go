package kubernetes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAgones runs the suites of the provider for Agones against the API server. While they run, the certificates of the
// API server, of its calls to the API of allocations, and of that API are replaced again and again.
func TestAgones(t *testing.T) {
	definitions(t)
	const name, port = "allocations", 8443
	if err := here.ca.server(name, nil, name+"."+system+".svc"); err != nil {
		t.Fatal(err)
	}
	served := filepath.Join(here.dir, "allocation-certificate")
	if err := errors.Join(os.Mkdir(served, 0o700), link(name, served)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(here.bin, "agones.test"), "-test.v", "-test.run", *suites,
		"-test.timeout", "20m", "-kubeconfig", here.kubeconfig, "-listen", fmt.Sprintf("%s:%d", address, port),
		"-certificate", served, "-clients", here.front.file())
	cmd.Dir = "../../services/allocator/agones"
	log, err := os.Create(filepath.Join(here.dir, "agones.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	register(t, name, port, metav1.GroupVersion{Group: "allocation.agones.dev", Version: "v1"})
	serials := map[string]bool{}
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for running := true; running; {
		select {
		case err := <-ended:
			report(t, log.Name(), err)
			running = false
		case <-tick.C:
			err := errors.Join(here.serve(), here.ca.server(name, nil, name+"."+system+".svc"),
				here.front.client("front-proxy", "front-proxy"))
			if err != nil {
				t.Error(err)
			}
			serials[serial(t)] = true
		}
	}
	if len(serials) < 3 {
		t.Errorf("the API server used %d certificates", len(serials))
	}
	fmt.Printf("the provider's suites: %.0f s, with %d certificates of the API server\n", time.Since(began).Seconds(),
		len(serials))
}

// link makes tls.crt and tls.key in a folder of a certificate.
func link(name, folder string) error {
	var all error
	for _, ending := range []string{".crt", ".key"} {
		all = errors.Join(all, os.Symlink(filepath.Join(here.dir, name+ending), filepath.Join(folder, "tls"+ending)))
	}
	return all
}

// report prints what failed, and counts what passed.
func report(t *testing.T, log string, failed error) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	passed := strings.Count(string(text), "--- PASS")
	if failed != nil || passed < 50 {
		var said []string
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, "=== ") && !strings.Contains(line, "--- PASS") && !strings.Contains(line, "--- SKIP") {
				said = append(said, line)
			}
		}
		t.Errorf("the provider's suites: %v, %d tests passed\n%s", failed, passed, strings.Join(said, ""))
		return
	}
	fmt.Printf("%d tests of the provider passed, %d were skipped\n", passed, strings.Count(string(text), "--- SKIP"))
}

// serial is the serial number of the certificate that the API server uses now.
func serial(t *testing.T) string {
	t.Helper()
	trusted := x509.NewCertPool()
	trusted.AddCert(here.ca.certificate)
	dialer := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trusted}}
	host := strings.TrimPrefix(here.admin.Host, "https://")
	connection, err := dialer.DialContext(t.Context(), "tcp", host)
	if err != nil {
		t.Errorf("the API server with a new certificate: %v", err)
		return ""
	}
	defer connection.Close()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
}
