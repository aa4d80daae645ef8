package contract

import (
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

func post(as Actor, body string) request {
	return request{as: as, method: http.MethodPost, path: "tickets", body: body}
}

// creation is a request for a ticket of a new player, so that it does not reach the limit of a player.
func (t *trial) creation(body string) request {
	r := post(Service, body)
	r.behalf = t.name("player")
	return r
}

// createAndRead creates a ticket with a body and reads it.
func (t *trial) createAndRead(body string) ticketResponse {
	r := t.creation(body)
	var made struct{ ID string }
	t.do(http.StatusCreated, r).decode(t, &made)
	k := ticket{made.ID, r.behalf}
	t.Cleanup(func() { t.send(k.delete()) })
	var got ticketResponse
	t.do(http.StatusOK, k.get()).decode(t, &got)
	return got
}

func ticketCreation() []requirement {
	return []requirement{
		{name: "tickets/created", check: func(t *trial) {
			before := time.Now()
			got := t.createAndRead(`{"attributes":{"skill":1200.5,"level":-3},"properties":{"loadout":"c3dvcmQ=","empty":""}}`)
			equal(t, "attributes", len(got.Attributes), 2)
			equal(t, "skill", got.Attributes["skill"], 1200.5)
			equal(t, "level", got.Attributes["level"], -3)
			equal(t, "properties", len(got.Properties), 2)
			equal(t, "loadout", string(got.Properties["loadout"]), "sword")
			if got.Assignment != nil {
				t.Errorf("the assignment is %+v before there is one", got.Assignment)
			}
			if off := time.UnixMilli(got.Created).Sub(before).Abs(); off > patience {
				t.Errorf("created is %d, which is %v off: want Unix milliseconds", got.Created, off)
			}
		}},
		{name: "tickets/created by a player", check: func(t *trial) {
			t.needs(Player)
			var made struct {
				ID     string
				Status any
			}
			t.do(http.StatusCreated, post(Player, `{}`)).decode(t, &made)
			if made.ID == "" || made.Status != nil {
				t.Errorf("got %+v, want an id, and null as the status", made)
			}
			t.do(http.StatusOK, request{as: Player, method: http.MethodDelete, path: "tickets?id=" + made.ID})
		}},
		{name: "tickets/all fields are optional", check: func(t *trial) {
			for _, body := range []string{`{}`, `{"attributes":{}}`, `{"attributes":null,"properties":null}`,
				`{"properties":{"a":"YQ=="}}`} {
				t.createAndRead(body)
			}
		}},
		{name: "tickets/member names in any letter case", check: func(t *trial) {
			got := t.createAndRead(`{"ATTRIBUTES":{"skill":1},"Properties":{"a":"YQ=="}}`)
			equal(t, "skill", got.Attributes["skill"], 1)
			equal(t, "a", string(got.Properties["a"]), "a")
		}},
		{name: "tickets/keys are kept as they are", check: func(t *trial) {
			got := t.createAndRead(`{"attributes":{"Skill":1,"skill":2,"größe":3},"properties":{"A":"YQ==","a":"Yg=="}}`)
			equal(t, "Skill", got.Attributes["Skill"], 1)
			equal(t, "skill", got.Attributes["skill"], 2)
			equal(t, "größe", got.Attributes["größe"], 3)
			equal(t, "A", string(got.Properties["A"]), "a")
			equal(t, "a", string(got.Properties["a"]), "b")
		}},
		{name: "tickets/doubles are exact", check: func(t *trial) {
			got := t.createAndRead(
				`{"attributes":{"a":1.7976931348623157e308,"b":5e-324,"c":0.1,"d":9007199254740993,"e":-0.0}}`)
			equal(t, "a", got.Attributes["a"], 1.7976931348623157e308)
			equal(t, "b", got.Attributes["b"], 5e-324)
			equal(t, "c", got.Attributes["c"], 0.1)
			equal(t, "d", got.Attributes["d"], 9007199254740992)
			equal(t, "e", got.Attributes["e"], 0)
		}},
		{name: "tickets/properties are any bytes", check: func(t *trial) {
			all := make([]byte, 256)
			for i := range all {
				all[i] = byte(i)
			}
			got := t.createAndRead(`{"properties":{"all":"` + base64.StdEncoding.EncodeToString(all) + `"}}`)
			equal(t, "all", string(got.Properties["all"]), string(all))
		}},
		{name: "tickets/identifiers differ", check: func(t *trial) {
			if a, b := t.createAndRead(`{}`), t.createAndRead(`{}`); a.ID == b.ID {
				t.Errorf("two tickets are %s", a.ID)
			}
		}},
		{name: "tickets/X-On-Behalf-Of of a player", check: func(t *trial) {
			t.needs(Player)
			self := post(Player, `{}`)
			self.behalf = subjectOf(t.tokens[Player])
			var made struct{ ID string }
			t.do(http.StatusCreated, self).decode(t, &made)
			for _, method := range []string{http.MethodPost, http.MethodDelete} {
				for _, name := range []string{"somebody-else", strings.ToUpper(self.behalf)} {
					t.mustRefuse(http.StatusForbidden, request{as: Player, method: method, path: "tickets?id=" + made.ID, behalf: name,
						body: `{}`}, "X-On-Behalf-Of")
				}
				t.mustRefuse(http.StatusForbidden, request{as: Player, method: method, path: "tickets?id=" + made.ID, body: `{}`,
					header: header("X-On-Behalf-Of", "")}, "X-On-Behalf-Of")
			}
			t.do(http.StatusOK, request{as: Player, method: http.MethodDelete, path: "tickets?id=" + made.ID,
				behalf: self.behalf})
		}},
		{name: "tickets/X-On-Behalf-Of of a game service", check: func(t *trial) {
			t.mustRefuse(http.StatusBadRequest, post(Service, `{}`), "X-On-Behalf-Of")
			empty := post(Service, `{}`)
			empty.header = header("X-On-Behalf-Of", "")
			t.mustRefuse(http.StatusBadRequest, empty, "X-On-Behalf-Of")
			twice := post(Service, `{}`)
			twice.header = header("X-On-Behalf-Of", "ada", "X-On-Behalf-Of", "bob")
			t.mustRefuse(http.StatusBadRequest, twice, "X-On-Behalf-Of", "more than once")
			long := post(Service, `{}`)
			long.behalf = strings.Repeat("a", 257)
			t.mustRefuse(http.StatusBadRequest, long, "X-On-Behalf-Of")
			encoded := post(Service, `{}`)
			encoded.behalf = "UTF-8''z%C3%B6e"
			var made struct{ ID string }
			t.do(http.StatusCreated, encoded).decode(t, &made)
			t.do(http.StatusOK, request{as: Service, method: http.MethodDelete, path: "tickets?id=" + made.ID, behalf: "zöe"})
			encoded.behalf = "UTF-8''z%C3"
			t.mustRefuse(http.StatusBadRequest, encoded, "X-On-Behalf-Of")
			k := t.ticket(nil)
			nameless := k.delete()
			nameless.behalf = ""
			t.mustRefuse(http.StatusBadRequest, nameless, "X-On-Behalf-Of")
			wrong := k.delete()
			wrong.behalf = "somebody-else"
			t.mustRefuse(http.StatusNotFound, wrong)
			t.do(http.StatusOK, k.delete())
		}},
		{name: "tickets/scope matchmaking.read only reads", check: func(t *trial) {
			k := t.ticket(nil)
			read := k.get()
			read.as = Reader
			t.do(http.StatusOK, read)
			create, remove := post(Reader, `{}`), k.delete()
			create.behalf, remove.as = k.player, Reader
			t.mustRefuse(http.StatusForbidden, create, "scope")
			t.mustRefuse(http.StatusForbidden, remove, "scope")
		}},
	}
}

func ticketRefusals() []requirement {
	many := func(of, value string) string {
		var all []string
		for i := range 65 {
			all = append(all, `"`+of+strings.Repeat("x", i)+`":`+value)
		}
		return strings.Join(all, ",")
	}
	// Names, bodies and the text in the detail.
	table := []struct{ name, body, detail string }{
		{"an attribute that is a string", `{"attributes":{"skill":"12"}}`, "attributes.skill"},
		{"an attribute that is a boolean", `{"attributes":{"skill":true}}`, "attributes.skill"},
		{"an attribute that is null", `{"attributes":{"skill":null}}`, "attributes.skill"},
		{"an attribute that is an object", `{"attributes":{"skill":{}}}`, "attributes.skill"},
		{"attributes that are a list", `{"attributes":[1]}`, "attributes"},
		{"attributes that are a string", `{"attributes":"skill"}`, "attributes"},
		{"NaN", `{"attributes":{"skill":NaN}}`, "not JSON"},
		{"Infinity", `{"attributes":{"skill":Infinity}}`, "not JSON"},
		{"minus Infinity", `{"attributes":{"skill":-Infinity}}`, "not JSON"},
		{"a number out of range", `{"attributes":{"skill":1e999}}`, "attributes.skill"},
		{"a number with a leading zero", `{"attributes":{"skill":01}}`, "not JSON"},
		{"the attribute created", `{"attributes":{"created":1}}`, "created"},
		{"an empty attribute name", `{"attributes":{"":1}}`, "attributes"},
		{"a long attribute name", `{"attributes":{"` + strings.Repeat("n", 129) + `":1}}`, "attributes"},
		{"too many attributes", `{"attributes":{` + many("a", "1") + `}}`, "attributes"},
		{"a property that is a number", `{"properties":{"p":1}}`, "properties.p"},
		{"a property that is null", `{"properties":{"p":null}}`, "properties.p"},
		{"a property that is no Base64", `{"properties":{"p":"*"}}`, "properties.p"},
		{"Base64 without padding", `{"properties":{"p":"YQ"}}`, "properties.p"},
		{"Base64 that is not canonical", `{"properties":{"p":"YR=="}}`, "canonical"},
		{"Base64 that is not canonical, with escapes", `{"properties":{"p":"YWF\u003d"}}`, "canonical"},
		{"Base64 of the URL alphabet", `{"properties":{"p":"-_-_"}}`, "properties.p"},
		{"Base64 with a line break", `{"properties":{"p":"YWFh\nYWFh"}}`, "properties.p"},
		{"an empty property name", `{"properties":{"":"YQ=="}}`, "properties"},
		{"a long property name", `{"properties":{"` + strings.Repeat("n", 129) + `":"YQ=="}}`, "properties"},
		{"too many properties", `{"properties":{` + many("p", `""`) + `}}`, "properties"},
		{"an unknown member", `{"attribute":{"skill":1}}`, "attribute"},
		{"a member given twice", `{"attributes":{"a":1},"attributes":{"a":2}}`, "attributes"},
		{"a member given twice in another case", `{"attributes":{"a":1},"Attributes":{"a":2}}`, "attributes"},
		{"a key given twice", `{"attributes":{"a":1,"a":2}}`, "attributes.a"},
	}
	var all []requirement
	for _, c := range table {
		all = append(all, requirement{name: "tickets/refused: " + c.name, check: func(t *trial) {
			t.mustRefuse(http.StatusBadRequest, t.creation(c.body), c.detail)
		}})
	}
	return all
}

func ticketReading() []requirement {
	get := func(query string) request {
		return request{as: Service, method: http.MethodGet, path: "tickets" + query}
	}
	remove := func(query string) request {
		return request{as: Service, behalf: "somebody", method: http.MethodDelete, path: "tickets" + query}
	}
	return []requirement{
		{name: "tickets/missing ticket is 404", check: func(t *trial) {
			for _, id := range []string{"0192f3c0-7d7a-7c53-a0f4-2b7f6f0f2d11", "x", "%00", strings.Repeat("x", 1000),
				"%7Bother%7D", "a%20b"} {
				t.mustRefuse(http.StatusNotFound, get("?id="+id), "not found")
				t.mustRefuse(http.StatusNotFound, remove("?id="+id), "not found")
			}
		}},
		{name: "tickets/no id is 400", check: func(t *trial) {
			for _, query := range []string{"", "?", "?id=", "?ID=x", "?ticket=x", "?id=%zz", "?id=a&id=b", "?id=a&%69d=b",
				"?id=a;id=b"} {
				t.mustRefuse(http.StatusBadRequest, get(query), "id")
				t.mustRefuse(http.StatusBadRequest, remove(query), "id")
			}
		}},
		{name: "tickets/only for their owner", check: func(t *trial) {
			t.needs(Player, Other)
			var made struct{ ID string }
			t.do(http.StatusCreated, post(Player, `{}`)).decode(t, &made)
			mine := request{as: Player, method: http.MethodGet, path: "tickets?id=" + made.ID}
			t.do(http.StatusOK, mine)
			theirs := mine
			theirs.as = Other
			t.mustRefuse(http.StatusNotFound, theirs, "not found")
			theirs.method = http.MethodDelete
			t.mustRefuse(http.StatusNotFound, theirs, "not found")
			for _, service := range []Actor{Service, Reader} {
				r := mine
				r.as = service
				t.do(http.StatusOK, r)
			}
			mine.method = http.MethodDelete
			t.do(http.StatusOK, mine)
		}},
		{name: "tickets/deleted", check: func(t *trial) {
			k := t.ticket(nil)
			gone := t.do(http.StatusOK, k.delete())
			equal(t, "the body", string(gone.body), "")
			t.mustRefuse(http.StatusNotFound, k.get(), "not found")
			t.mustRefuse(http.StatusNotFound, k.delete(), "not found")
		}},
		{name: "tickets/deleted with a result", check: func(t *trial) {
			lane := t.lanes.take()
			t.config(t.play(lane, nil, nil))
			k := t.ticket(map[string]float64{"lane": lane})
			k.result(t)
			t.do(http.StatusOK, k.delete())
			t.mustRefuse(http.StatusNotFound, k.get(), "not found")
		}},
		{name: "tickets/deleted tickets are not matched", check: func(t *trial) {
			lane := t.lanes.take()
			gone := t.ticket(map[string]float64{"lane": lane})
			t.do(http.StatusOK, gone.delete())
			t.config(t.play(lane, object{"size": 2, "connection": "203.0.113.7:7777"}, nil))
			first := t.ticket(map[string]float64{"lane": lane})
			second := t.ticket(map[string]float64{"lane": lane})
			equal(t, "the connection", first.result(t).Connection, "203.0.113.7:7777")
			equal(t, "the connection", second.result(t).Connection, "203.0.113.7:7777")
		}},
		{name: "tickets/held requests learn of the DELETE", check: func(t *trial) {
			k := t.ticket(nil)
			held := make(chan answer, 2)
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				go func() {
					r := k.get()
					r.method, r.header = method, header("Prefer", "wait=30")
					a, err := t.exchange(r)
					if err != nil {
						t.Errorf("%s: %v", method, err)
					}
					held <- a
				}()
			}
			t.do(http.StatusOK, k.delete())
			for range 2 {
				equal(t, "the status of what was held", (<-held).status, http.StatusNotFound)
			}
		}},
		{name: "tickets/DELETE with any Accept", check: func(t *trial) {
			k := t.ticket(nil)
			r := k.delete()
			r.header = header("Accept", "text/plain")
			t.do(http.StatusOK, r)
			t.mustRefuse(http.StatusNotFound, r, "not found")
		}},
		{name: "tickets/Prefer: wait", check: func(t *trial) {
			k := t.ticket(nil)
			r := k.get()
			for preference, applied := range map[string]string{
				"wait=1": "wait=1", "respond-async, WAIT = 1": "wait=1",
				`wait="1"`: "wait=1", "wait=1; why=impatient": "wait=1", `a="b, wait=2", wait=1, wait=3`: "wait=1",
				"wait=0": "", "wait=x": "", "respond-async": "", "wait=-1": "", "wait": "", "wait=x, wait=1": "",
			} {
				r.header = header("Prefer", preference)
				equal(t, "Preference-Applied of "+preference, t.do(http.StatusOK, r).header.Get("Preference-Applied"), applied)
			}
		}},
		{name: "tickets/Prefer: wait of a POST", check: func(t *trial) {
			for preference, applied := range map[string]string{
				"wait=1": "wait=1", "respond-async, WAIT = 1": "wait=1", "wait=0": "", "wait=x": "", "wait=-1": "",
			} {
				r := t.creation(`{"attributes":{"skill":7}}`)
				r.header = header("Prefer", preference)
				a := t.do(http.StatusCreated, r)
				var made ticketResponse
				a.decode(t, &made)
				k := ticket{made.ID, r.behalf}
				t.Cleanup(func() { t.send(k.delete()) })
				equal(t, "Preference-Applied of "+preference, a.header.Get("Preference-Applied"), applied)
				if applied == "" {
					equal(t, "Location without waiting", a.header.Get("Location"), "")
					continue
				}
				equal(t, "Location", a.header.Get("Location"), "tickets?id="+made.ID)
				equal(t, "skill", made.Attributes["skill"], 7)
				if made.Assignment != nil || made.Created == 0 {
					t.Errorf("a POST that waited in vain got %v, want the ticket without an assignment", a)
				}
			}
		}},
		{name: "tickets/a POST is answered with the assignment", check: func(t *trial) {
			lane := t.lanes.take()
			t.config(t.play(lane, object{"size": 2, "connection": "203.0.113.7:7777"}, nil))
			r := t.creation(marshal(t, object{"attributes": map[string]float64{"lane": lane}}))
			r.header = header("Prefer", "wait=30")
			held := make(chan answer, 1)
			go func() {
				a, err := t.exchange(r)
				if err != nil {
					t.Errorf("POST: %v", err)
				}
				held <- a
			}()
			second := t.ticket(map[string]float64{"lane": lane})
			equal(t, "the connection", second.result(t).Connection, "203.0.113.7:7777")
			a := <-held
			var got ticketResponse
			a.decode(t, &got)
			if equal(t, "the status", a.status, http.StatusCreated); got.Assignment == nil {
				t.Fatalf("got %v, want an assignment", a)
			}
			equal(t, "the connection", got.Assignment.Connection, "203.0.113.7:7777")
			k := ticket{got.ID, r.behalf}
			t.Cleanup(func() { t.send(k.delete()) })
		}},
	}
}
