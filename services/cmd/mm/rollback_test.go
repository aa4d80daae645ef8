package main

import (
	"strings"
	"testing"
)

func TestFunctionVersions(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.functions["duel"], service.current = "md5-2", 2
	shell.on(t.Context(), service, "function", "versions", "duel").expect(t, 0, `VERSION  CURRENT  UPLOADED                 SIZE    MD5
3                 2030-01-03 00:00:00 UTC  2.4 MB  md5-3
2        *        2030-01-02 00:00:00 UTC  2.4 MB  md5-2
1                 2030-01-01 00:00:00 UTC  2.4 MB  md5-1
`, "")
	shell.on(t.Context(), service, "function", "versions", "duel", "-o", "json").expect(t, 0, `"current": true`, "")
}

func TestFunctionRollback(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.functions["duel"], service.current = "md5-3", 3
	service.state = func(asked int) string { return []string{"Pending", "Pending", "Running"}[min(asked, 3)-1] }
	got := shell.on(t.Context(), service, "function", "rollback", "duel")
	got.expect(t, 0, "state     Running\nmd5       md5-2\n", "")
	if service.current != 2 || service.asked != 3 {
		t.Errorf("version %d, asked %d times", service.current, service.asked)
	}
	shell.on(t.Context(), service, "function", "rollback", "duel", "1", "--no-wait").expect(t, 0, "md5-1", "")
	shell.on(t.Context(), service, "function", "rollback", "duel").expect(t, 1, "", "mm: function duel: no version before the current one is kept\n")
	shell.on(t.Context(), service, "function", "rollback", "duel", "9").expect(t, 1, "", "mm: version: 9 is not kept (404 Not Found")
	shell.on(t.Context(), service, "function", "rollback", "duel", "last").expect(t, 2, "", "last")
	service.state = func(int) string { return "Failed" }
	got = shell.on(t.Context(), service, "function", "rollback", "duel", "3")
	got.expect(t, 1, "Failed", "trap: unreachable")
	if !strings.Contains(got.err, "function duel is back at version 3, but does not start") {
		t.Errorf("stderr:\n%s", got.err)
	}
}
