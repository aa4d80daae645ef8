package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTokenHasTheClaimsOfItsKind(t *testing.T) {
	shell := newShell(t)
	for line, want := range map[string]map[string]any{
		"player player-1":                  {"kind": "player", "sub": "player-1", "project": "demo"},
		"developer":                        {"kind": "developer", "sub": "developer", "role": "Owner"},
		"developer me --role Manager":      {"kind": "developer", "sub": "me", "role": "Manager"},
		"server":                           {"kind": "server", "sub": "server", "project": "demo"},
		"server s --project other":         {"kind": "server", "sub": "s", "project": "other"},
		"service":                          {"kind": "service", "sub": "service", "scope": "matchmaking"},
		"service --scope matchmaking.read": {"scope": "matchmaking.read"},
	} {
		got := shell.run(append(strings.Fields("token "+line), "--data", shell.data)...)
		got.expect(0, ".", "")
		if strings.Count(got.out, "\n") != 1 {
			t.Errorf("%s: not a line: %q", line, got.out)
		}
		claims := claims(strings.TrimSpace(got.out))
		for name, value := range want {
			if claims[name] != value {
				t.Errorf("%s: %s is %v, want %v", line, name, claims[name], value)
			}
		}
	}
}

func TestTokenHasTheClaimsOfTheFlags(t *testing.T) {
	shell := newShell(t)
	got := shell.run("token", "player", "p", "--claim", "game.skill=1200.5", "--claim", "game.wins=3", "--claim", "age=30",
		"--claim", `game.roles=["tank"]`, "--claim", "name=ada;=b", "--claim", "bad=NaN", "--data", shell.data)
	got.expect(0, ".", "")
	all := claims(strings.TrimSpace(got.out))
	game, _ := all["game"].(map[string]any)
	if game["skill"] != 1200.5 || game["wins"] != 3.0 || all["age"] != 30.0 ||
		!reflect.DeepEqual(game["roles"], []any{"tank"}) || all["name"] != "ada;=b" || all["bad"] != "NaN" {
		t.Errorf("the claims are %v", all)
	}
	for claim, want := range map[string]string{"game=1": `claim "game.skill": game is a value already`,
		"kind=1": `claim "kind": `, ".x=1": `claim ".x": `} {
		shell.run("token", "player", "p", "--claim", "game.skill=1", "--claim", claim, "--data", shell.data).
			expect(1, "", want)
	}
	shell.run("token", "player", "p", "--claim", "a=1", "--claim", "a=2", "--data", shell.data).
		expect(2, "", "--claim a is given twice")
	shell.run("token", "player", "p", "--claim", "a", "--data", shell.data).expect(2, "", "is not PATH=VALUE")
	shell.run("ticket", "create", "--token", "x.y.z", "--claim", "a=1").
		expect(2, "", "--claim is for a token that mm makes")
}

func TestDataFolderIsFoundInAFolderAbove(t *testing.T) {
	shell, parent := newShell(t), t.TempDir()
	if err := os.Symlink(shell.data, filepath.Join(parent, ".matchmaker")); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(parent, "functions", "ffa")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{parent, project} {
		t.Chdir(dir)
		shell.run("token", "player", "p").expect(0, ".", "")
	}
	shell.run("token", "player", "p", "--data", "no-such-folder").
		expect(1, "", "mm: there is no key in no-such-folder to make a token with")
}

func TestTokenExpiresAfterTTL(t *testing.T) {
	shell := newShell(t)
	shell.now = time.Now().Truncate(time.Second)
	got := shell.run("token", "server", "--ttl", "15m", "--data", shell.data)
	expires, want := claims(strings.TrimSpace(got.out))["exp"], float64(shell.now.Add(15*time.Minute).Unix())
	if expires != want {
		t.Errorf("expires %v, want %v", expires, want)
	}
}
