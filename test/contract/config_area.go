package contract

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var guid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// least is the smallest config.
const least = `{"matchmaking":{"targetFunction":{"name":"nobody-uploaded-this"}}}`

func configRequest(method, id, body string) request {
	path := "configs"
	if id != "" {
		path += "/" + url.PathEscape(id)
	}
	return request{as: Developer, method: method, path: path, body: body}
}

// mustStore puts a config and compares what is stored with what is wanted.
func (t *trial) mustStore(sent, want string) {
	id := t.name("config")
	t.Cleanup(func() { t.deleteConfig(id) })
	put := t.do(http.StatusOK, configRequest(http.MethodPut, id, sent))
	sameJSON(t, "the answer of PUT", put.body, []byte(want))
	sameJSON(t, "GET", t.do(http.StatusOK, configRequest(http.MethodGet, id, "")).body, []byte(want))
}

// masked is a config as in answers, with its secret masked.
func masked(config string) string {
	return strings.Replace(config, `"Secret":"secret"`, `"Secret":"********"`, 1)
}

func configs() []requirement {
	const full = `{"matchmaking":{"name":"Ranked","targetFunction":{"name":"nobody","version":"1"},
		"config":{"size":{"min":2,"max":4},"maps":["a","b"],"big":123456789012345678901234567890}},
		"pools":{"tank":[{"attribute":"skill","min":1,"max":2.5},{"attribute":"created","min":0}],
		"healer":[],"any":[{"attribute":"level"}]},
		"hosting":{"Profile":"small","Access":"key","Secret":"secret","FleetId":"eu"}}`
	return []requirement{
		{name: "configs/POST makes a GUID", check: func(t *trial) {
			var ids [2]string
			for i := range ids {
				var made struct{ ID string }
				t.do(http.StatusOK, configRequest(http.MethodPost, "", least)).decode(t, &made)
				t.Cleanup(func() { t.deleteConfig(made.ID) })
				ids[i] = made.ID
				if !guid.MatchString(made.ID) {
					t.Errorf("the id %q is no GUID", made.ID)
				}
				t.do(http.StatusOK, configRequest(http.MethodGet, made.ID, ""))
			}
			if ids[0] == ids[1] {
				t.Errorf("two configs are %s", ids[0])
			}
		}},
		{name: "configs/listed by id", check: func(t *trial) {
			var ids [2]string
			for i := range ids {
				id := t.name("config")
				ids[i] = id
				t.Cleanup(func() { t.deleteConfig(id) })
				t.do(http.StatusOK, configRequest(http.MethodPut, id, full))
			}
			slices.Sort(ids[:])
			var list struct{ Configs []struct{ ID string } }
			t.do(http.StatusOK, configRequest(http.MethodGet, "", "")).decode(t, &list)
			var got []string
			for _, c := range list.Configs {
				if slices.Contains(ids[:], c.ID) {
					got = append(got, c.ID)
				}
			}
			if !slices.Equal(got, ids[:]) {
				t.Errorf("listed are %q of %q", got, ids)
			}
		}},
		{name: "configs/kept as sent", check: func(t *trial) {
			t.mustStore(full, masked(full))
			t.mustStore(least, least)
		}},
		{name: "configs/a secret is kept by its mask", check: func(t *trial) {
			t.mustStore(full, masked(full))
			id := t.name("config")
			t.Cleanup(func() { t.deleteConfig(id) })
			t.do(http.StatusOK, configRequest(http.MethodPut, id, full))
			t.do(http.StatusOK, configRequest(http.MethodPut, id, masked(full)))
			sameJSON(t, "GET", t.do(http.StatusOK, configRequest(http.MethodGet, id, "")).body, []byte(masked(full)))
			t.do(http.StatusBadRequest, configRequest(http.MethodPut, t.name("another"), masked(full)))
		}},
		{name: "configs/a secret that is not sent is kept with its access key", check: func(t *trial) {
			id := t.name("config")
			t.Cleanup(func() { t.deleteConfig(id) })
			put := func(hosting string) string {
				body := `{"matchmaking":{"targetFunction":{"name":"f"}},"hosting":` + hosting + `}`
				return string(t.do(http.StatusOK, configRequest(http.MethodPut, id, body)).body)
			}
			put(`{"Access":"key","Secret":"secret"}`)
			t.contains("the config without Secret", put(`{"Access":"key","FleetId":"eu"}`), `"Secret":"********"`)
			for _, other := range []string{`{"Access":"another"}`, `{"Access":"another","Secret":""}`} {
				if got := put(other); strings.Contains(got, "Secret") {
					t.Errorf("%s keeps the secret: %s", other, got)
				}
			}
			put(`{"Access":"key","Secret":"secret"}`)
			if got := put(`{"Access":"key","Secret":""}`); strings.Contains(got, "Secret") {
				t.Errorf("an empty secret keeps the one before: %s", got)
			}
		}},
		{name: "configs/integers in any notation", check: func(t *trial) {
			for _, value := range []string{"2.0", "2e0", "20e-1", "0.2E1"} {
				c := func(value string) string {
					return `{"matchmaking":{"targetFunction":{"name":"f"}},"pools":{"a":[{"attribute":"x","min":0,"max":9,
						"segmentation":{"DistributionType":"Uniform","SegmentBehaviorType":"BucketCount","Value":` + value + `}}]}}`
				}
				t.mustStore(c(value), c("2"))
				for _, bad := range []string{"1.5", "1e-1", "1e99999999999", "1e19"} {
					t.do(http.StatusBadRequest, configRequest(http.MethodPost, "", c(bad)))
				}
			}
		}},
		{name: "configs/what becomes of tickets without a server", check: func(t *trial) {
			for _, word := range []string{"Fail", "Requeue"} {
				c := `{"matchmaking":{"targetFunction":{"name":"f"}},"hosting":{"FleetId":"f","OnAllocationError":"` + word + `"}}`
				t.mustStore(c, c)
			}
		}},
		{name: "configs/null is not given", check: func(t *trial) {
			t.mustStore(`{"matchmaking":{"name":null,"targetFunction":{"name":"f","version":null}},"pools":null,"hosting":null}`,
				`{"matchmaking":{"targetFunction":{"name":"f"}}}`)
		}},
		{name: "configs/member names in any letter case", check: func(t *trial) {
			t.mustStore(`{"MATCHMAKING":{"Name":"n","targetfunction":{"NAME":"f","Version":"7"},"CONFIG":{"Keys":1,"keys":2}},
				"Pools":{"Tank":[{"Attribute":"a","MIN":1,"mAx":9,
				"Segmentation":{"distributionType":"Uniform","segmentBehaviorType":"BucketCount","value":2,"stddev":1}}],"tank":[]},
				"HOSTING":{"profile":"p","access":"a","secret":"s","fleetId":"f"}}`,
				`{"matchmaking":{"name":"n","targetFunction":{"name":"f","version":"7"},"config":{"Keys":1,"keys":2}},
				"pools":{"Tank":[{"attribute":"a","min":1,"max":9,
				"segmentation":{"DistributionType":"Uniform","SegmentBehaviorType":"BucketCount","Value":2,"Stddev":1}}],"tank":[]},
				"hosting":{"Profile":"p","Access":"a","Secret":"********","FleetId":"f"}}`)
		}},
		{name: "configs/PUT creates and updates", check: func(t *trial) {
			id := t.name("Ranked EU (ü)")
			t.Cleanup(func() { t.deleteConfig(id) })
			first := t.do(http.StatusOK, configRequest(http.MethodPut, id, least)).header.Get("ETag")
			second := t.do(http.StatusOK, configRequest(http.MethodPut, id, full)).header.Get("ETag")
			got := t.do(http.StatusOK, configRequest(http.MethodGet, id, ""))
			sameJSON(t, "GET", got.body, []byte(masked(full)))
			equal(t, "the ETag", got.header.Get("ETag"), second)
			if first == second {
				t.Errorf("two revisions have the ETag %s", first)
			}
		}},
		{name: "configs/DELETE is 204, twice", check: func(t *trial) {
			id := t.name("config")
			t.do(http.StatusOK, configRequest(http.MethodPut, id, least))
			t.do(http.StatusNoContent, configRequest(http.MethodDelete, id, ""))
			t.mustRefuse(http.StatusNotFound, configRequest(http.MethodGet, id, ""), "not found")
			t.do(http.StatusNoContent, configRequest(http.MethodDelete, id, ""))
		}},
		{name: "configs/missing config is 404", check: func(t *trial) {
			t.mustRefuse(http.StatusNotFound, configRequest(http.MethodGet, t.name("config"), ""), "not found")
		}},
		{name: "configs/version is ignored", check: func(t *trial) {
			lane := t.lanes.take()
			c := t.play(lane, nil, nil)
			c["matchmaking"].(object)["targetFunction"] = object{"name": t.puppet, "version": "99"}
			t.config(c)
			t.ticket(map[string]float64{"lane": lane}).result(t)
		}},
		{name: "configs/function names in any letter case", check: func(t *trial) {
			lane := t.lanes.take()
			c := t.play(lane, nil, nil)
			c["matchmaking"].(object)["targetFunction"] = object{"name": strings.ToUpper(t.puppet)}
			t.config(c)
			t.ticket(map[string]float64{"lane": lane}).result(t)
		}},
		{name: "configs/enabled, updated and deleted at once", check: func(t *trial) {
			lane, id := t.lanes.take(), t.name("config")
			attributes := map[string]float64{"lane": lane}
			t.putConfig(id, t.play(lane, object{"connection": "203.0.113.1:1"}, nil))
			equal(t, "the connection", t.ticket(attributes).result(t).Connection, "203.0.113.1:1")
			t.putConfig(id, t.play(lane, object{"connection": "203.0.113.2:2"}, nil))
			equal(t, "the connection after PUT", t.ticket(attributes).result(t).Connection, "203.0.113.2:2")
			t.deleteConfig(id)
			left := t.ticket(attributes)
			other := t.lanes.take()
			t.config(t.play(other, nil, nil))
			t.awaitCycles(map[string]float64{"lane": other})
			left.mustWait(t)
		}},
		{name: "configs/function that comes later", check: func(t *trial) {
			t.mustStore(least, least)
		}},
	}
}

func configConditions() []requirement {
	with := func(r request, pairs ...string) request {
		r.header = header(pairs...)
		return r
	}
	return []requirement{
		{name: "configs/If-Match", check: func(t *trial) {
			id := t.name("config")
			t.Cleanup(func() { t.deleteConfig(id) })
			put := configRequest(http.MethodPut, id, least)
			t.mustRefuse(http.StatusConflict, with(put, "If-Match", "*"))
			t.mustRefuse(http.StatusConflict, with(put, "If-Match", `"1"`))
			first := t.do(http.StatusOK, put).header.Get("ETag")
			second := t.do(http.StatusOK, with(put, "If-Match", first)).header.Get("ETag")
			t.mustRefuse(http.StatusConflict, with(put, "If-Match", first))
			t.mustRefuse(http.StatusConflict, with(put, "If-Match", `"another"`))
			t.do(http.StatusOK, with(put, "If-Match", "*"))
			equal(t, "the ETag after a refusal", t.do(http.StatusOK, configRequest(http.MethodGet, id,
				"")).header.Get("ETag") != second, true)
		}},
		{name: "configs/If-None-Match", check: func(t *trial) {
			id := t.name("config")
			t.Cleanup(func() { t.deleteConfig(id) })
			put, get := configRequest(http.MethodPut, id, least), configRequest(http.MethodGet, id, "")
			tag := t.do(http.StatusOK, with(put, "If-None-Match", "*")).header.Get("ETag")
			t.mustRefuse(http.StatusConflict, with(put, "If-None-Match", "*"))
			t.do(http.StatusNotModified, with(get, "If-None-Match", tag))
			t.do(http.StatusOK, with(get, "If-None-Match", `"another"`))
		}},
		{name: "configs/history, check and rollback", check: func(t *trial) {
			id := t.name("config")
			t.Cleanup(func() { t.deleteConfig(id) })
			history := configRequest(http.MethodGet, id, "")
			history.path += "/history"
			t.mustRefuse(http.StatusNotFound, history)
			put := configRequest(http.MethodPut, id, least)
			first := t.do(http.StatusOK, put).header.Get("ETag")
			second := t.do(http.StatusOK, put).header.Get("ETag")
			check := request{as: Developer, method: http.MethodPost, body: least,
				path: "configs/actions/check?id=" + url.QueryEscape(id)}
			t.do(http.StatusOK, with(check, "If-Match", second))
			t.mustRefuse(http.StatusConflict, with(check, "If-Match", first))
			check.body = `{"matchmaking":{}}`
			t.do(http.StatusBadRequest, check)
			t.do(http.StatusOK, history)
			back := configRequest(http.MethodPost, id, fmt.Sprintf(`{"etag":%q}`, first))
			back.path += "/actions/rollback"
			t.mustRefuse(http.StatusConflict, with(back, "If-Match", first))
			third := t.do(http.StatusOK, with(back, "If-Match", second)).header.Get("ETag")
			equal(t, "the ETag is new", third != first && third != second, true)
			t.deleteConfig(id)
			t.do(http.StatusOK, history)
			t.do(http.StatusOK, with(back, "If-None-Match", "*"))
		}},
		{name: "settings/come back as they were put", check: func(t *trial) {
			get := request{as: Developer, method: http.MethodGet, path: "settings"}
			there := t.do(http.StatusOK, get)
			tag := there.header.Get("ETag")
			t.do(http.StatusNotModified, with(get, "If-None-Match", tag))
			put := request{as: Developer, method: http.MethodPut, path: "settings", body: string(there.body)}
			t.mustRefuse(http.StatusConflict, with(put, "If-Match", `"another"`))
			again := t.do(http.StatusOK, with(put, "If-Match", tag))
			sameJSON(t, "the answer of PUT", again.body, there.body)
			for _, bad := range []string{`{"attributes":{"a":{"setBy":"nobody"}}}`, `{"properties":{"a":{"setBy":"nobody"}}}`,
				`{"properties":{"*":{"setBy":"claim","claim":"a"}}}`} {
				put.body = bad
				t.do(http.StatusBadRequest, put)
			}
			get.path = "settings/history"
			t.do(http.StatusOK, get)
		}},
		{name: "configs/bad conditions are 400", check: func(t *trial) {
			t.mustRefuse(http.StatusBadRequest, with(configRequest(http.MethodPut, t.name("config"), least), "If-Match", "5"),
				"If-Match")
		}},
		{name: "configs/another letter case is 409", check: func(t *trial) {
			id := t.name("Config")
			t.putConfig(id, object{"matchmaking": object{"targetFunction": object{"name": "f"}}})
			t.mustRefuse(http.StatusConflict, configRequest(http.MethodPut, strings.ToLower(id), least), id)
			t.mustRefuse(http.StatusNotFound, configRequest(http.MethodGet, strings.ToLower(id), ""))
			t.mustRefuse(http.StatusConflict, configRequest(http.MethodDelete, strings.ToLower(id), ""), id)
			t.do(http.StatusOK, configRequest(http.MethodGet, id, ""))
		}},
		{name: "configs/another Unicode normal form is 409", check: func(t *trial) {
			composed := t.name("caf\u00e9")
			decomposed := strings.Replace(composed, "\u00e9", "e\u0301", 1)
			t.putConfig(decomposed, object{"matchmaking": object{"targetFunction": object{"name": "f"}}})
			t.mustRefuse(http.StatusConflict, configRequest(http.MethodPut, composed, least), "normal form")
			t.mustRefuse(http.StatusConflict, configRequest(http.MethodDelete, composed, ""), "normal form")
			t.mustRefuse(http.StatusNotFound, configRequest(http.MethodGet, composed, ""))
			t.do(http.StatusOK, configRequest(http.MethodPut, decomposed, least))
			t.deleteConfig(decomposed)
			t.deleteConfig(composed)
		}},
	}
}
