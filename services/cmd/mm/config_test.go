package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestConfigPutGetAndDelete(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.other = true // mm keeps what it does not know
	file := write(t, "ranked.json", `{"matchmaking":{"name":"Ranked","targetFunction":{"name":"duel"},"config":{"n": 1}},
		"pools":{"all":[{"attribute":"skill","min":0,"max":2500.5},{"attribute":"created","max":9}],"any":[]},
		"hosting":{"FleetId":"eu","Secret":"hidden"},"odd":true}`)
	shell.on(service, "config", "put", "ranked", file).expect(0, "config  ranked\netag    \"1\"\n", "")
	if !strings.Contains(service.configs["ranked"], `"odd":true`) {
		t.Errorf("sent %s", service.configs["ranked"])
	}
	got := shell.on(service, "config", "get", "ranked")
	got.expect(0, `config    ranked
etag      "1"
name      Ranked
function  duel
settings  {"n":1}
fleet     eu

POOL  ATTRIBUTE       MIN  MAX     SEGMENTS
all   skill           0    2500.5
all   created              9
any   (every ticket)
`, "")
	if strings.Contains(got.out, "hidden") {
		t.Error("the hosting key is shown")
	}
	shell.on(service, "config", "get", "ranked", "-o", "json").expect(0, `"odd": true`, "")
	shell.on(service, "config", "put", "ranked", file, "--if-match", `"0"`).
		expect(1, "", "mm: the config has changed (409 Conflict")
	shell.on(service, "config", "list").expect(0, `CONFIG  FUNCTION  POOLS  SERVER  ETAG
ranked  duel          2  yes     "1"
`, "")
	shell.on(service, "config", "list", "-o", "json").expect(0, `"id": "ranked"`, "")
	shell.on(service, "config", "delete", "ranked").expect(0, "deleted  ranked\n", "")
	shell.on(service, "config", "list").expect(0, "", "mm: project demo has no configs")
	shell.on(service, "config", "get", "ranked").expect(1, "", "mm: there is no config ranked (404 Not Found")
	shell.in = `{"matchmaking":{}}`
	shell.on(service, "config", "put", "piped", "-").expect(0, "piped", "")
	if service.configs["piped"] != shell.in {
		t.Errorf("sent %s", service.configs["piped"])
	}
}

func TestConfigCreate(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.other = true // mm keeps what it does not know
	file := write(t, "ranked.json", `{"matchmaking":{"targetFunction":{"name":"duel"}},"odd":true}`)
	shell.on(service, "config", "create", file).expect(0, "config  6c4de9ba-0f1e-4d2c-8b3a-5a6978876543\n", "")
	if service.configs["6c4de9ba-0f1e-4d2c-8b3a-5a6978876543"] != `{"matchmaking":{"targetFunction":{"name":"duel"}},"odd":true}` {
		t.Errorf("sent %s", service.configs["6c4de9ba-0f1e-4d2c-8b3a-5a6978876543"])
	}
	shell.in = `{}`
	shell.on(service, "config", "create", "-", "-o", "json").expect(0, `"id": "6c4de9ba-0f1e-4d2c-8b3a-5a6978876543"`, "")
	if service.configs["6c4de9ba-0f1e-4d2c-8b3a-5a6978876543"] != `{}` {
		t.Errorf("sent %s", service.configs["6c4de9ba-0f1e-4d2c-8b3a-5a6978876543"])
	}
	shell.in = `{"bad":1}`
	shell.on(service, "config", "create", "-").expect(1, "", "mm: badFilterRange: pools.a[0]\nmm: badQueue: x\n")
	shell.on(service, "config", "create", file+"x").expect(2, "", "no such file")
}

func TestConfigPutNamesTheErrorsInAFile(t *testing.T) {
	shell, service := newShell(t), newService(t)
	got := shell.on(service, "config", "put", "a", write(t, "a.json", `{"bad":1}`))
	got.expect(1, "", "mm: badFilterRange: pools.a[0]\nmm: badQueue: x\n")
	for _, rules := range []string{`{"bad":1,"teams":[]}`, `{"bad":1,"flexmatch":{}}`, `{"bad":1,"ruleLanguageVersion":"1.0"}`} {
		file := write(t, "rules.json", rules)
		for _, command := range [][]string{{"config", "put", "a", file}, {"config", "create", file}} {
			shell.on(service, command...).expect(1, "", "mm: the file seems to be a rule set")
		}
	}
	if strings.Contains(got.err, "rule set") {
		t.Error("any file is taken for a rule set")
	}
	file := write(t, "b.json", "{\n  \"a\": 1,\n  oops\n}")
	shell.on(service, "config", "put", "a", file).expect(1, "", "mm: "+file+":3:3: not JSON: invalid character 'o'")
	shell.on(service, "config", "put", "a", write(t, "c.json", "")).expect(1, "", "c.json: empty\n")
	shell.on(service, "config", "put", "a", file+"x").expect(2, "", "no such file")
}

func TestFunctionPutWaitsUntilTheFunctionRuns(t *testing.T) {
	shell, service := newShell(t), newService(t)
	archive := write(t, "duel.zip", "PK\x03\x04 archive")
	service.state = func(n int) string { return []string{"Pending", "Not Running", "Running"}[min(n, 3)-1] }
	got := shell.on(service, "function", "put", "duel", archive)
	got.expect(0, "state     Running\n", "")
	if service.reads != 3 || !strings.Contains(got.out, "\n\nINSTANCE  STATE\nduel-0    Waiting\n") {
		t.Errorf("read %d times, printed\n%s", service.reads, got.out)
	}
	shell.width, service.reads = 80, 0
	got = shell.on(service, "function", "put", "duel", archive, "-o", "json")
	if got.code != 0 || !json.Valid([]byte(got.out)) {
		t.Errorf("on a terminal: %+v", got)
	}
}

// The state counts only with the MD5 of the new upload.
func TestFunctionPutIgnoresTheStateOfTheUploadBefore(t *testing.T) {
	shell, service := newShell(t), newService(t)
	archive := write(t, "duel.wasm", "\x00asm archive")
	var uploaded string
	service.state = func(n int) string {
		switch n {
		case 1:
			uploaded, service.functions["duel"] = service.functions["duel"], strings.Repeat("e", 32)
		case 3:
			service.functions["duel"] = uploaded
		}
		return "Running"
	}
	shell.on(service, "function", "put", "duel", archive).expect(0, "Running", "")
	if service.reads != 3 {
		t.Errorf("read %d times, want 3", service.reads)
	}
}

func TestFunctionPutFailsIfTheFunctionDoesNotStart(t *testing.T) {
	shell, service := newShell(t), newService(t)
	archive := write(t, "duel.tar.gz", "\x1f\x8b archive")
	service.state = func(int) string { return "Failed" }
	shell.on(service, "function", "put", "duel", archive).expect(1, "state     Failed\n",
		"mm: duel-0: line of 60\ufffd[31m\nmm: duel-0: trap: unreachable\n"+
			"mm: function duel is uploaded, but does not start\n")
	service.state = func(int) string { return "Pending" }
	shell.on(service, "function", "put", "duel", archive).expect(1, "state     Pending\n",
		"mm: function duel is uploaded, but is Pending after 30s")
	service.reads = 0
	shell.on(service, "function", "put", "duel", archive, "--no-wait").expect(0, "state     Pending\n", "")
	if service.reads != 1 {
		t.Errorf("read %d times without waiting", service.reads)
	}
}

func TestFunctionPutChecksTheFile(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "function", "put", "duel", write(t, "a.zip", "")).expect(1, "", "a.zip: the file is empty\n")
	shell.on(service, "function", "put", "duel", write(t, "a.zip", "text")).expect(1, "", "a.zip: neither a .zip")
	shell.on(service, "function", "put", "duel", t.TempDir()).expect(2, "", "is a directory")
	shell.on(service, "function", "put", "duel", "missing.zip").
		expect(2, "", "mm: open missing.zip: no such file or directory\n")
	if len(service.functions) != 0 {
		t.Errorf("uploaded %v", service.functions)
	}
}

func TestFunctionRestartFailsIfAFunctionIsNotRestarted(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.functions["duel"], service.functions["ranked"] = someHash, strings.Repeat("d", 32)
	service.state = func(int) string { return "Pending" }
	shell.on(service, "function", "restart", "ranked", "duel").
		expect(0, "NAME    STATE\nranked  Pending\nduel    Pending\n", "")
	shell.on(service, "function", "restart", "duel", "-o", "json").expect(0, `"state": "Pending"`, "")
	shell.on(service, "function", "restart", "duel", "none").
		expect(1, "", "mm: <name>: not found: none; nothing was restarted (404")
	service.state = func(int) string { return "Failed" }
	shell.on(service, "function", "restart", "ranked", "duel").
		expect(1, "ranked  Failed\n", "mm: not restarted: ranked, duel\n")
}

func TestFunctionDelete(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.functions["duel"], service.functions["ranked"] = someHash, strings.Repeat("d", 32)
	shell.on(service, "function", "delete", "duel").expect(0, "deleted  duel\n", "")
	if _, still := service.functions["duel"]; still || len(service.functions) != 1 {
		t.Errorf("the service still has %v", service.functions)
	}
	shell.on(service, "function", "delete", "duel", "-o", "json").
		expect(0, `"deleted": null`, "mm: there is no function duel: nothing was deleted\n")
	shell.on(service, "function", "delete", "ranked", "-o", "json").expect(0, `"deleted": "ranked"`, "")
}

func TestFunctionListGetLog(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.functions["duel"] = someHash
	shell.on(service, "function", "list").expect(0,
		"NAME  STATE    INSTANCES  UPDATED                  MD5\n"+
			"duel  Running          1  2030-01-01 00:00:00 UTC  "+someHash+"\n", "")
	shell.on(service, "function", "list", "-o", "json").expect(0, `"md5Hash": "`+someHash, "")
	shell.on(service, "function", "get", "duel").expect(0, "md5       "+someHash, "")
	shell.on(service, "function", "get", "none").expect(1, "", "mm: there is no function none (404")
	shell.on(service, "function", "log", "duel").
		expect(0, "== duel-0 ==\nline of 1800\ufffd[31m\ntrap: unreachable\n"+
			"== duel-1 ==\n(nothing in the last 1800 seconds)\n", "")
	shell.on(service, "function", "log", "duel", "--seconds", "60", "-o", "json").expect(0, `line of 60\u001b`, "")
}
