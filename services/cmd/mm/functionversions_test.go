package main

import (
	"strings"
	"testing"
)

func TestFunctionVersionsMarksTheCurrentOne(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.functions["duel"], service.current = "00000000000000000000000000000002", 2
	shell.on(service, "function", "versions", "duel").expect(0, `VERSION  CURRENT  UPLOADED                 SIZE    MD5
3                 2030-01-03 00:00:00 UTC  2.4 MB  00000000000000000000000000000003
2        *        2030-01-02 00:00:00 UTC  2.4 MB  00000000000000000000000000000002
1                 2030-01-01 00:00:00 UTC  2.4 MB  00000000000000000000000000000001
`, "")
	shell.on(service, "function", "versions", "duel", "-o", "json").expect(0, `"current": true`, "")
}

func TestFunctionRollbackGoesToThePreviousOrAGivenVersion(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.functions["duel"], service.current = "00000000000000000000000000000003", 3
	service.state = func(n int) string { return []string{"Pending", "Pending", "Running"}[min(n, 3)-1] }
	got := shell.on(service, "function", "rollback", "duel")
	got.expect(0, "state     Running\nmd5       00000000000000000000000000000002\n", "")
	if service.current != 2 || service.reads != 3 {
		t.Errorf("version %d, read %d times", service.current, service.reads)
	}
	shell.on(service, "function", "rollback", "duel", "1", "--no-wait").expect(0, "00000000000000000000000000000001", "")
	shell.on(service, "function", "rollback", "duel").
		expect(1, "", "mm: function duel: no version before the current one is stored\n")
	shell.on(service, "function", "rollback", "duel", "9").expect(1, "", "mm: <version>: 9 is not kept (404 Not Found")
	shell.on(service, "function", "rollback", "duel", "last").expect(2, "", "last")
	service.state = func(int) string { return "Failed" }
	got = shell.on(service, "function", "rollback", "duel", "3")
	got.expect(1, "Failed", "trap: unreachable")
	if !strings.Contains(got.err, "function duel is back at version 3, but does not start") {
		t.Errorf("stderr:\n%s", got.err)
	}
}
