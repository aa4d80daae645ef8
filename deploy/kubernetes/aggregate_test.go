package kubernetes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	registrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
)

// aggregate serves groups ("group/version") of the cluster's API from this process, as a metrics adapter does. Only the
// API server is heard.
func aggregate(t *testing.T, name string, handler http.Handler, groups ...metav1.GroupVersion) {
	t.Helper()
	if err := here.ca.server(name, nil, name+"."+system+".svc"); err != nil {
		t.Fatal(err)
	}
	own, err := tls.LoadX509KeyPair(filepath.Join(here.dir, name+".crt"), filepath.Join(here.dir, name+".key"))
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(here.front.certificate)
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{own},
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trusted,
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
	}
	go func() { _ = server.ServeTLS(listener, "", "") }() // until it is closed
	t.Cleanup(func() { _ = server.Close() })
	register(t, name, listener.Addr().(*net.TCPAddr).Port, groups...)
}

// system is the namespace of the Services that lead to this network.
const system = "kube-system"

// register has the API server ask name.kube-system.svc, which is a port of the node, for groups of its API.
func register(t *testing.T, name string, port int, groups ...metav1.GroupVersion) {
	t.Helper()
	routed(t, system, name, port)
	registrations, err := aggregator.NewForConfig(here.admin)
	if err != nil {
		t.Fatal(err)
	}
	https, all := int32(443), registrations.ApiregistrationV1().APIServices()
	for _, g := range groups {
		id := g.Version + "." + g.Group
		_, err := all.Create(t.Context(), &registrationv1.APIService{
			ObjectMeta: metav1.ObjectMeta{Name: id},
			Spec: registrationv1.APIServiceSpec{
				Group: g.Group, Version: g.Version, GroupPriorityMinimum: 100, VersionPriority: 100, CABundle: here.ca.bundle(),
				Service: &registrationv1.ServiceReference{Namespace: system, Name: name, Port: &https},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := all.Delete(context.WithoutCancel(t.Context()), id, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
		eventually(t, "the API service "+id, func(ctx context.Context) error {
			got, err := all.Get(ctx, id, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, c := range got.Status.Conditions {
				if c.Type == registrationv1.Available && c.Status == registrationv1.ConditionTrue {
					return nil
				}
			}
			return fmt.Errorf("%+v", got.Status.Conditions)
		})
	}
}

// routed makes a Service that leads to a port of this process.
func routed(t *testing.T, namespace, name string, port int) {
	t.Helper()
	ctx, at := t.Context(), int32(port)
	_, err := here.api.CoreV1().Services(namespace).Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "https", Port: 443}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	https := "https"
	_, err = here.api.DiscoveryV1().EndpointSlices(namespace).Create(ctx, &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/service-name": name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &https, Port: &at}},
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{address}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(ctx)
		err := errors.Join(here.api.CoreV1().Services(namespace).Delete(ctx, name, metav1.DeleteOptions{}),
			here.api.DiscoveryV1().EndpointSlices(namespace).Delete(ctx, name, metav1.DeleteOptions{}))
		if err != nil {
			t.Error(err)
		}
	})
}
