package main

import "testing"

func TestProjectSettings(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "project", "settings").expect(0, "etag  \"0\"\n", "")
	file := write(t, "settings.json", `{"attributes": {"skill": {"setBy": "service"}}}`)
	shell.on(service, "project", "settings", "set", file).expect(0, "etag  \"1\"\n", "")
	shell.on(service, "project", "settings", "set", file, "--if-match", `"0"`).
		expect(1, "", "mm: the settings have changed (409 Conflict")
	shell.in = `{}`
	shell.on(service, "project", "settings", "set", "-", "--if-match", `"1"`).expect(0, "etag  \"2\"\n", "")
	shell.on(service, "project", "settings", "get", "-o", "json").expect(0, "{}\n", "")
	shell.on(service, "project", "settings", "history").expect(0, `CHANGED                  BY    ETAG  SETTINGS
2030-01-02 03:04:05 UTC  olga  "2"   {}
2030-01-02 03:04:05 UTC  olga  "1"   {"attributes":{"skill":{"setBy":"service"}}}
`, "")
	shell.on(service, "project", "settings", "set", write(t, "bad.json", "{\n oops")).
		expect(1, "", "bad.json:2:2: not JSON")
}
