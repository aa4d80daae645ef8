package main

import (
	"strings"
	"testing"
)

func TestYAMLHasWhatJSONHas(t *testing.T) {
	for value, want := range map[any]string{
		rawValue(`{"b": 1, "a": [true, null, "x: y"], "n": 12345678901234567890, "f": 1.50,
			"yes": "no", "e": {}, "l": []}`): `b: 1
a:
  - true
  - null
  - 'x: y'
"n": 12345678901234567890
f: 1.50
"yes": "no"
e: {}
l: []
`,
		rawValue(`"\ud83d\ude00\u2028"`): `"\U0001F600\L"` + "\n",
		rawValue(`[{"a": "1"}]`):         "- a: \"1\"\n",
	} {
		var out strings.Builder
		if err := writeYAML(&out, value); err != nil || out.String() != want {
			t.Errorf("%v: got\n%s%v, want\n%s", value, out.String(), err, want)
		}
	}
}

// rawValue is JSON that is a key of a map.
type rawValue string

func (r rawValue) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func TestOutputsOfAList(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.configs["ranked"] = duelConfig
	shell.on(service, "config", "list", "-o", "yaml").expect(0, "- id: ranked\n  etag: '\"1\"'\n", "")
	const narrow = "TICKET  WAITED  PLAYERS  QUEUES  REGION  ATTRIBUTES\n"
	shell.on(service, "ticket", "list", "--limit", "1").expect(0, narrow, "1 of 3")
	shell.on(service, "ticket", "list", "--limit", "1", "-o", "wide").
		expect(0, strings.TrimSuffix(narrow, "\n")+"          CREATED                  OWNER\n", "1 of 3")
	// Values of a stream are documents.
	shell.on(service, "event", "log", "-o", "yaml").
		expect(0, "---\nid: \"7.1\"\ntime: \"2030-01-01T00:00:00Z\"\nkind: created\n", "")
	shell.on(service, "config", "list", "-o", "xml").expect(2, "", "--output must be one of")
}

func TestDeletingWhatIsNotThereSaysSo(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.configs["ranked"], service.functions["duel"] = `{"matchmaking":{"name":"Ranked","targetFunction":{"name":"duel"}}}`, someHash
	shell.on(service, "config", "delete", "ranked", "--dry-run").
		expect(0, "name      Ranked\n", "mm: nothing was deleted\n")
	shell.on(service, "function", "delete", "duel", "--dry-run").
		expect(0, "would delete     duel\nused by configs  ranked\n", "mm: nothing was deleted\n")
	if len(service.configs) != 1 || len(service.functions) != 1 {
		t.Fatalf("deleted: %v, %v", service.configs, service.functions)
	}
	shell.on(service, "config", "delete", "ranked").expect(0, "deleted  ranked\n", "")
	shell.on(service, "config", "delete", "ranked").expect(0, "", "mm: there is no config ranked: nothing was deleted\n")
	shell.on(service, "function", "delete", "duel").expect(0, "deleted  duel\n", "")
	shell.on(service, "function", "delete", "duel", "-o", "json").
		expect(0, "\"deleted\": null", "mm: there is no function duel: nothing was deleted\n")
}

func TestDryRunsChangeNothing(t *testing.T) {
	shell, service := newShell(t), newService(t)
	file := write(t, "ranked.json", `{"matchmaking":{"targetFunction":{"name":"duel"}}}`)
	shell.on(service, "config", "create", file, "--dry-run").expect(0, "checked  it would create a config\n", "")
	archive := write(t, "duel.wasm", "\x00asm archive")
	shell.on(service, "function", "put", "duel", archive, "--dry-run").
		expect(0, "it would  create the function\n", "mm: nothing was uploaded\n")
	if len(service.configs)+len(service.functions) > 0 {
		t.Fatalf("stored %v, %v", service.configs, service.functions)
	}
	shell.on(service, "function", "put", "duel", archive).expect(0, "Running", "")
	shell.on(service, "function", "put", "duel", archive, "--dry-run").expect(0, "change nothing", "nothing was uploaded")
	shell.on(service, "function", "put", "duel", write(t, "duel.wasm", "\x00asm other"), "--dry-run").
		expect(0, "replace the function", "nothing was uploaded")
	for range 2 {
		shell.on(service, "config", "put", "ranked", file).expect(0, "ranked", "")
	}
	shell.on(service, "config", "rollback", "ranked", "--dry-run").expect(0, "it would replace the config", "")
	if n := len(service.changes["ranked"]); n != 2 {
		t.Errorf("%d changes, want the two puts", n)
	}
	shell.on(service, "config", "rollback", "ranked", "--dry-run", "--to", "9").
		expect(1, "", "nothing is kept of the change")
}
