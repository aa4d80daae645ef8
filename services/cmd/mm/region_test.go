package main

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

func (s *service) listRegions(w http.ResponseWriter, _ *http.Request) {
	if s.regions == "" {
		s.regions = `{"regions":[],"receiptSeconds":0}`
	}
	_, _ = w.Write([]byte(s.regions))
}

func TestRegions(t *testing.T) {
	shell, service := newShell(t), newService(t)
	const none = "mm: there are no regions to measure: the service has no --regions\n"
	shell.on(service, "region", "list").expect(0, "", "mm: there are no regions: the service has no --regions\n")
	shell.on(service, "region", "measure").expect(1, "", none)
	shell.on(service, "ticket", "create", "--player", "ada", "--measure").expect(1, "", none)
	shell.on(service, "party", "join", "CODE", "--player", "ada", "--measure").expect(1, "", none)
	shell.on(service, "ticket", "create", "--for", "ada", "--measure").expect(2, "", "mm: --measure is for a player's own")
	shell.on(service, "region", "measure", "--probes", "21").expect(2, "", "--probes: must be 1 to 20")
	shell.on(service, "region", "measure", "--wait", "0s").expect(2, "", "--wait: must be more than 0, up to 2s")
	shell.on(service, "region", "measure", "--wait", "500us").expect(1, "", none)

	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { // answers as agones-ping does
		for in := make([]byte, 2048); ; {
			n, from, err := conn.ReadFromUDPAddrPort(in)
			if err != nil {
				return
			}
			_, _ = conn.WriteToUDPAddrPort(in[:n], from)
		}
	}()
	service.regions = `{"regions":[{"name":"far","protocol":"echo","udp":"` + conn.LocalAddr().String() +
		`"}],"receiptSeconds":600}`
	shell.on(service, "region", "list").expect(0, "REGION  PROTOCOL  UDP", "")
	r := shell.on(service, "region", "measure", "--probes", "2")
	r.expect(0, "REGION  RTT MS  LOSS    BELIEVED", "")
	line := strings.Fields(strings.Split(r.out, "\n")[1])
	if line[0] != "far" || strings.Join(line[2:], " ") != "0 of 2 no" {
		t.Error(line)
	}
	shell.on(service, "ticket", "create", "--player", "ada", "--measure").
		expect(1, "", "mm: --measure: no beacon answered\n")
}
