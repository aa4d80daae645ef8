package agonestest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"strconv"
)

// Service is the allocator service: POST /gameserverallocation, JSON as grpc-gateway makes it of
// proto/allocation/allocation.proto.
func (c *Cluster) Service() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/gameserverallocation":
			refuse(w, http.StatusNotFound, 5, "Not Found")
		case r.Method != http.MethodPost:
			refuse(w, http.StatusNotImplemented, 12, "Method Not Allowed")
		default:
			c.serve(w, r)
		}
	})
	return mux
}

// ClientsOf has the service ask for clients' certificates that descend from a pool, as Agones does: any
// certificate, which it then verifies itself.
func ClientsOf(pool *x509.CertPool) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		ClientAuth: tls.RequireAnyClientCert,
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error { //nolint:gosec // as Agones does it
			certificate, err := x509.ParseCertificate(raw[0])
			if err != nil {
				return err
			}
			_, err = certificate.Verify(x509.VerifyOptions{
				Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
			})
			return err
		},
	}
}

// protoSelector is GameServerSelector. An int64 is a number or a string; fields that are unknown are ignored.
type protoSelector struct {
	MatchLabels     map[string]string `json:"matchLabels"`
	GameServerState string            `json:"gameServerState"`
	Counters        map[string]struct {
		MinAvailable json.RawMessage `json:"minAvailable"`
	} `json:"counters"`
	Lists map[string]struct {
		ContainsValue string          `json:"containsValue"`
		MinAvailable  json.RawMessage `json:"minAvailable"`
	} `json:"lists"`
}

func (c *Cluster) serve(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Namespace           string          `json:"namespace"`
		GameServerSelectors []protoSelector `json:"gameServerSelectors"`
		Scheduling          string          `json:"scheduling"`
		Metadata            struct {
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Counters map[string]struct {
			Action string          `json:"action"`
			Amount json.RawMessage `json:"amount"`
		} `json:"counters"`
		Lists map[string]struct {
			AddValues    []string `json:"addValues"`
			DeleteValues []string `json:"deleteValues"`
		} `json:"lists"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, 3, err.Error())
		return
	}
	if in.Scheduling != "" && in.Scheduling != "Packed" && in.Scheduling != "Distributed" {
		refuse(w, http.StatusBadRequest, 3, `invalid value for enum field scheduling: "`+in.Scheduling+`"`)
		return
	}
	request := request{
		labels: in.Metadata.Labels, annotations: in.Metadata.Annotations,
		counters: map[string]counterAction{}, lists: map[string]listAction{},
	}
	for _, s := range in.GameServerSelectors {
		want := selector{labels: s.MatchLabels, state: Ready}
		switch s.GameServerState {
		case "", "READY":
		case "ALLOCATED":
			want.state = Allocated
		default:
			refuse(w, http.StatusBadRequest, 3, `invalid value for enum field gameServerState: "`+s.GameServerState+`"`)
			return
		}
		for name, counter := range s.Counters {
			want.counter, want.available = name, number(string(counter.MinAvailable))
		}
		for name, list := range s.Lists {
			want.list, want.available, want.contains = name, number(string(list.MinAvailable)), list.ContainsValue
		}
		request.selectors = append(request.selectors, want)
	}
	for name, a := range in.Counters {
		request.counters[name] = counterAction{a.Action, number(string(a.Amount))}
	}
	for name, a := range in.Lists {
		request.lists[name] = listAction{a.AddValues, a.DeleteValues}
	}
	if reason := request.invalid(); reason != "" {
		// The service makes a gRPC code of Kubernetes' 422, which the gateway does not know.
		refuse(w, http.StatusInternalServerError, 422, "GameServerAllocation is invalid: "+reason)
		return
	}
	if in.Namespace != c.Namespace {
		request.selectors = nil // a namespace without servers is no error
	}
	outcome, s := c.allocate(request)
	c.answer(w, outcome, s)
}

func (c *Cluster) answer(w http.ResponseWriter, o outcome, s *GameServer) {
	switch o {
	case unallocated:
		if c.UnallocatedStatus == http.StatusOK { // no error, and so an answer without a server
			_ = json.NewEncoder(w).Encode(map[string]any{
				"gameServerName": "", "ports": []any{}, "address": "", "addresses": []any{}, "nodeName": "", "source": "",
			})
			return
		}
		codes := map[int]int{429: 8, 404: 5, 409: 6, 503: 14, 400: 3}
		refuse(w, c.UnallocatedStatus, codes[c.UnallocatedStatus], "there is no available GameServer to allocate")
	case contention:
		refuse(w, http.StatusConflict, 10, "too many concurrent requests have overwhelmed the system")
	case conflict:
		refuse(w, http.StatusInternalServerError, 2, "could not update the selected GameServer")
	case allocated:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"gameServerName": s.Name, "address": s.Address, "nodeName": "node-1", "source": "local",
			"ports":     []map[string]any{{"name": "default", "port": s.Port}, {"name": "query", "port": s.Port + 1000}},
			"addresses": s.addresses(),
			"metadata":  map[string]any{"labels": s.Labels, "annotations": s.Annotations},
			"counters":  s.counters(), "lists": s.lists(),
		})
	}
}

// In JSON of protocol buffers an int64 is a string.
func (s *GameServer) counters() map[string]any {
	if s.Capacity == 0 {
		return map[string]any{}
	}
	return map[string]any{"rooms": map[string]string{"count": strconv.Itoa(s.Count), "capacity": strconv.Itoa(s.Capacity)}}
}

func (s *GameServer) lists() map[string]any {
	if s.Capacity == 0 {
		return map[string]any{}
	}
	return map[string]any{"matches": map[string]any{
		"values": append([]string{}, s.List...), "capacity": strconv.Itoa(s.Capacity),
	}}
}

// refuse answers with the body of grpc-gateway's errors.
func refuse(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "message": message, "details": []any{}})
}
