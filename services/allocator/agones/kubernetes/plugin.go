package kubernetes

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"matchmaker.dev/services/internal/platform/textfile"
)

// plugin is a program that prints credentials:
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins.
type plugin struct {
	APIVersion  string   `yaml:"apiVersion"`
	Command     string   `yaml:"command"`
	Args        []string `yaml:"args"`
	Env         []struct{ Name, Value string }
	Interactive string `yaml:"interactiveMode"`
	TellCluster bool   `yaml:"provideClusterInfo"`
}

// printed is what a plugin prints, an ExecCredential.
type printed struct {
	APIVersion, Kind string
	Status           struct {
		Token                                string
		ClientCertificateData, ClientKeyData string
		ExpirationTimestamp                  time.Time
	}
}

func (p *plugin) check() error {
	const v1, v1beta1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"
	switch {
	case p.APIVersion != v1 && p.APIVersion != v1beta1:
		return fmt.Errorf("exec.apiVersion: %q is neither %s nor %s", p.APIVersion, v1, v1beta1)
	case p.Command == "":
		return errors.New("exec.command: missing")
	case p.Interactive == "Always":
		return errors.New("exec.interactiveMode: Always, but the program would have no terminal")
	}
	return nil
}

// execInfo returns what KUBERNETES_EXEC_INFO says to a plugin about the cluster.
func (p *plugin) execInfo(k *cluster) (string, error) {
	spec := map[string]any{"interactive": false}
	if p.TellCluster {
		ca := []byte(k.CAData)
		if ca == nil && k.CA != "" {
			var err error
			if ca, err = textfile.Read(k.CA); err != nil {
				return "", err
			}
		}
		all := map[string]any{
			"server": k.Server, "tls-server-name": k.ServerName, "certificate-authority-data": ca, "proxy-url": k.Proxy,
			"disable-compression": k.Uncompressed,
		}
		for _, e := range k.Extensions {
			if e.Name == "client.authentication.k8s.io/exec" {
				all["config"] = e.Extension
			}
		}
		spec["cluster"] = all
	}
	text, err := json.Marshal(map[string]any{"apiVersion": p.APIVersion, "kind": "ExecCredential", "spec": spec})
	return string(text), err
}

// run runs the plugin. It has no input, and its errors go where ours go.
func (p *plugin) run(ctx context.Context, k *cluster, timeout time.Duration) (*printed, error) {
	info, err := p.execInfo(k)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not done within %s", timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Command, p.Args...)
	cmd.Env = os.Environ()
	for _, one := range p.Env {
		cmd.Env = append(cmd.Env, one.Name+"="+one.Value)
	}
	cmd.Env = append(cmd.Env, "KUBERNETES_EXEC_INFO="+info)
	var out limited
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	cmd.WaitDelay = time.Second // a child of the plugin may keep the output open
	err = cmd.Run()
	got := new(printed)
	switch {
	case len(out) > maxAnswer:
		err = fmt.Errorf("it printed more than %d bytes", maxAnswer)
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
	case json.Unmarshal(out, got) != nil || got.Kind != "ExecCredential" || got.APIVersion != p.APIVersion:
		err = fmt.Errorf("it printed no ExecCredential of %s", p.APIVersion)
	case got.Status.ClientCertificateData != "" || got.Status.ClientKeyData != "":
		_, err = tls.X509KeyPair([]byte(got.Status.ClientCertificateData), []byte(got.Status.ClientKeyData))
	case got.Status.Token == "":
		err = errors.New("it printed neither a token nor a certificate")
	default:
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", p.Command, err)
	}
	return got, err
}

// limited keeps what is written, and fails when it is more than maxAnswer bytes.
type limited []byte

func (l *limited) Write(text []byte) (int, error) {
	if *l = append(*l, text...); len(*l) > maxAnswer {
		return 0, errors.New("too much")
	}
	return len(text), nil
}
