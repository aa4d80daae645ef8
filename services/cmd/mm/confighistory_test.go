package main

import (
	"strings"
	"testing"
)

const (
	duelOf100 = `{"matchmaking":{"targetFunction":{"name":"duel"},"config":{"window":100,"Window":1}},` +
		`"pools":{"all":[{"attribute":"skill","min":0}]},"hosting":{"FleetId":"eu","Access":"AK1","Secret":"********"}}`
	duelOf50 = `{"matchmaking":{"targetFunction":{"name":"duel"},"config":{"window":50,"Window":1}},"queue":"q",` +
		`"pools":{"all":[{"attribute":"skill","min":0}],"ALL":[]},"hosting":{"FleetId":"eu","Access":"AK2","Secret":"********"}}`
)

func TestConfigHistoryDiffAndRollback(t *testing.T) {
	shell, service := newShell(t), newService(t)
	put := func(config string) {
		t.Helper()
		shell.in = config
		shell.on(service, "config", "put", "ranked", "-").expect(0, "ranked", "")
	}
	put(duelOf100)
	shell.on(service, "config", "diff", "ranked").expect(0, "", "mm: nothing differs\n")
	shell.on(service, "config", "rollback", "ranked").expect(1, "",
		"mm: config ranked: nothing is kept of what it was before\n")
	put(duelOf50)
	shell.on(service, "config", "history", "ranked").expect(0, `CHANGED                  BY    ETAG  IS       FUNCTION
2030-01-02 03:04:05 UTC  olga  "2"   current  duel
2030-01-02 03:04:05 UTC  olga  "1"            duel
`, "")
	shell.on(service, "config", "history", "ranked", "-o", "json").expect(0, `"current": true`, "")
	const changed = `VALUE                      BEFORE    AFTER
hosting.Access             (hidden)  (hidden)
matchmaking.config.window  100       50
pools.ALL                            []
queue                                "q"
`
	shell.on(service, "config", "diff", "ranked").expect(0, changed, "")
	shell.on(service, "config", "diff", "ranked", "--from", "1", "--to", `"2"`).expect(0, changed, "")
	shell.on(service, "config", "diff", "ranked", "--from", "7").expect(1, "",
		`mm: config ranked has no change "7" in its history`)

	shell.on(service, "config", "rollback", "ranked").expect(0, "config  ranked\netag    \"3\"\n", "")
	if service.configs["ranked"] != duelOf100 {
		t.Errorf("the config is %s", service.configs["ranked"])
	}
	shell.on(service, "config", "delete", "ranked").expect(0, "deleted  ranked\n", "")
	shell.on(service, "config", "history", "ranked").expect(0, `"4"   deleted`, "")
	shell.on(service, "config", "rollback", "ranked", "--to", "2").expect(0, `"5"`, "")
	if service.configs["ranked"] != duelOf50 {
		t.Errorf("the config is %s", service.configs["ranked"])
	}
	shell.on(service, "config", "rollback", "ranked", "--to", "9").expect(1, "", `the change "9" is not kept`)
	put(strings.Replace(duelOf50, `,"Secret":"********"`, "", 1))
	shell.on(service, "config", "diff", "ranked").expect(0, "", "mm: nothing differs\n")
	put(strings.Replace(duelOf50, `"Secret":"********"`, `"Secret":""`, 1))
	shell.on(service, "config", "diff", "ranked").expect(0, "hosting.Secret  (hidden)", "")
	shell.in = duelOf50
	shell.on(service, "config", "diff", "ranked", "-", "--from", "5").expect(0, "", "mm: nothing differs\n")
	shell.on(service, "config", "rollback", "none").expect(1, "", "nothing is kept of config none (404")
}

// Members of the contract differ in letter case between documents. Secrets are not known, and keys not shown.
func TestConfigDiffWithAFile(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.in = duelOf100
	shell.on(service, "config", "put", "ranked", "-").expect(0, "ranked", "")
	shell.in = `{"MatchMaking":{"targetfunction":{"Name":"duel"},"config":{"Window":1,"window":100.0},"name":null},
		"Pools":{"all":[{"Attribute":"skill","min":0}]},"HOSTING":{"fleetid":"us","ACCESS":"hunter2","secret":"hunter3"}}`
	got := shell.on(service, "config", "diff", "ranked", "-")
	got.expect(0, `VALUE            BEFORE    AFTER
hosting.Access   (hidden)  (hidden)
hosting.FleetId  "eu"      "us"
`, "")
	if strings.Contains(got.out+got.err, "hunter") {
		t.Errorf("a key is shown: %s", got.out)
	}
	shell.on(service, "config", "diff", "ranked", "-", "--to", "1").expect(2, "", "--to: a file is compared already")
}

func TestConfigCheck(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.warned = []string{`unknownFunction: matchmaking.targetFunction.name: no function "dual" is uploaded`}
	const warning = `mm: warning: unknownFunction: matchmaking.targetFunction.name: no function "dual" is uploaded` + "\n"
	file := write(t, "a.json", `{"matchmaking":{"targetFunction":{"name":"duel"}}}`)
	shell.on(service, "config", "check", file).expect(0, "checked  it would create a config\n", warning)
	shell.on(service, "config", "put", "a", file, "--dry-run").expect(0, "checked  it would create a config\n", warning)
	if len(service.configs) > 0 {
		t.Errorf("a check stored %v", service.configs)
	}
	shell.on(service, "config", "put", "a", file).expect(0, "config  a\n", warning)
	shell.on(service, "config", "create", file).expect(0, "config  6c4de9ba-0f1e-4d2c-8b3a-5a6978876543\n", warning)
	shell.on(service, "config", "check", file, "--id", "a").expect(0, "checked  it would replace the config\n", warning)
	shell.on(service, "config", "check", file, "-o", "json").expect(0, `"ResultCode": "unknownFunction"`, warning)
	shell.on(service, "config", "check", write(t, "b.json", `{"bad":1}`)).
		expect(1, "", "mm: badSettings: matchmaking.config: odd\n")
	// What is stored is shown with what is wrong with it now.
	service.configs["b"] = `{"matchmaking":{"name":"bad","targetFunction":{"name":"duel"}}}`
	shell.on(service, "config", "get", "b").expect(0, "name      bad\n",
		"mm: warning: config b: badSettings: matchmaking.config: odd\n")
	shell.on(service, "config", "get", "b", "-o", "json").expect(0, `"name": "bad"`, "")
}

// When another upload runs, the configs that use the function are checked.
func TestFunctionPutChecksTheConfigsThatUseIt(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.configs["good"], service.configs["odd"] = duelConfig, `{"matchmaking":{"targetFunction":{"name":"bad"}}}`
	archive := write(t, "duel.zip", "PK\x03\x04 archive")
	shell.on(service, "function", "put", "duel", archive).expect(0, "state     Running\n",
		"mm: warning: config odd: badSettings: matchmaking.config: odd\n")
}
