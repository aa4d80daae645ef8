package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
)

// configLife: a studio misspells a setting, which its function notices, and changes, loses and brings back a config.
// Tickets are matched as the config says at each time.
func configLife(t *testing.T, p *project) {
	studio := p.developer(t)
	config := func(setting, fleet string) json.RawMessage {
		return fmt.Appendf(nil, `{"matchmaking":{"targetFunction":{"name":"duel"},"config":{"attribute":"skill",%s}},
			"hosting":{"Profile":"profile","FleetId":%q,"Access":"AK","Secret":"hunter2"}}`, setting, fleet)
	}
	save := func(config json.RawMessage, etag string) (client.SavedConfig, error) {
		return studio.SaveConfig(within(t), "life", config, etag)
	}
	good := config(`"window":100,"widen":0`, "fleet")
	early, err := save(good, "")
	if err != nil || len(early.Warnings) != 1 || early.Warnings[0].ResultCode != "unknownFunction" {
		t.Fatalf("a config whose function comes later: %+v, %v", early, err)
	}
	p.upload(t, "duel", p.s.made.duel)
	p.match(t, attributes{"skill": 1})

	misspelt := config(`"windw":100`, "fleet")
	var put, checked error
	unjudged := 0
	eventually(t, "the function judges a config that is put", func() bool {
		var saved client.SavedConfig
		saved, put = save(misspelt, "")
		if put != nil || len(saved.Warnings) != 1 || saved.Warnings[0].ResultCode != "uncheckedSettings" {
			return true
		}
		unjudged++ // it did not answer in time
		if _, err := save(good, ""); err != nil {
			t.Fatal(err)
		}
		return false
	})
	eventually(t, "the function judges a config that is checked", func() bool {
		_, checked = studio.CheckConfig(within(t), "life", misspelt, "")
		return checked != nil
	})
	for what, err := range map[string]error{"put": put, "check": checked} {
		refused, is := errors.AsType[*client.Error](err)
		if !is || refused.Status != http.StatusBadRequest || len(refused.Validation) != 1 ||
			refused.Validation[0].ResultCode != "badSettings" || !strings.Contains(refused.Validation[0].Message, `"windw"`) {
			t.Errorf("%s of a misspelt setting: %v", what, err)
		}
	}
	p.match(t, attributes{"skill": 1})

	// A fleet that does not exist: the config before comes back.
	wrong, err := save(config(`"window":100,"widen":0`, "none"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := studio.RollbackConfig(within(t), "life", early.ETag, early.ETag); client.Status(err) !=
		http.StatusConflict {
		t.Errorf("a rollback of somebody else's change: %v", err)
	}
	back, err := studio.RollbackConfig(within(t), "life", early.ETag, wrong.ETag)
	if err != nil || back.ETag == early.ETag {
		t.Fatal(back, err)
	}
	p.match(t, attributes{"skill": 1})

	if err := studio.DeleteConfig(within(t), "life"); err != nil {
		t.Fatal(err)
	}
	ada, bob := p.ticket(t, "ada", attributes{"skill": 1}), p.ticket(t, "bob", attributes{"skill": 1})
	ada.mustWait(t)
	if _, err := studio.RollbackConfig(within(t), "life", back.ETag, client.Absent); err != nil {
		t.Fatal(err)
	}
	together(t, ada, bob)

	changes, err := studio.ConfigHistory(within(t), "life")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, c := range changes {
		told = append(told, fmt.Sprint(c.By, " ", c.Current, " ", c.Deleted))
		if strings.Contains(string(c.Config), "hunter2") || c.Changed.IsZero() {
			t.Errorf("a change: %+v", c)
		}
	}
	want := []string{"developer true false", "developer false true", "developer false false", "developer false false",
		"developer false false"}
	want = slices.Insert(want, 4, slices.Repeat([]string{"developer false false"}, 2*unjudged)...)
	if !slices.Equal(told, want) {
		t.Errorf("the history tells %q, want %q", told, want)
	}
}
