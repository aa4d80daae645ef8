package contract

import (
	"crypto/md5" //nolint:gosec // the contract's checksum
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

type function struct {
	Name             string
	MD5Hash          string
	Created, Updated time.Time
	Status           struct {
		State     string
		Instances []struct{ Name, State string }
	}
}

func functionRequest(method, name string) request {
	return request{as: Developer, method: method, path: "functions/" + url.PathEscape(name)}
}

func (t *trial) function(name string) (f function) {
	t.do(http.StatusOK, functionRequest(http.MethodGet, name)).decode(t, &f)
	return f
}

// upload uploads a function. It is deleted after the trial.
func (t *trial) upload(name string, archive []byte) (f function) {
	r := functionRequest(http.MethodPut, name)
	r.body, r.kind = string(archive), "application/octet-stream"
	t.do(http.StatusOK, r).decode(t, &f)
	t.Cleanup(func() { t.do(http.StatusNoContent, functionRequest(http.MethodDelete, name)) })
	return f
}

func (t *trial) functionNames() []string {
	var list struct{ Functions []function }
	t.do(http.StatusOK, request{as: Developer, method: http.MethodGet, path: "functions"}).decode(t, &list)
	var names []string
	for _, f := range list.Functions {
		names = append(names, f.Name)
	}
	return names
}

func hash(archive []byte) string {
	sum := md5.Sum(archive) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

func functions() []requirement {
	return []requirement{
		{name: "functions/uploaded and updated", check: func(t *trial) {
			name, before := t.name("f"), time.Now()
			archive := zipArchive(file{"f.wasm", module("one")})
			first := t.upload(name, archive)
			equal(t, "the name", first.Name, name)
			equal(t, "the MD5", first.MD5Hash, hash(archive))
			equal(t, "created", first.Created, first.Updated)
			if off := first.Created.Sub(before).Abs(); off > patience {
				t.Errorf("created is %v, which is %v off", first.Created, off)
			}
			archive = zipArchive(file{"f.wasm", module("two")})
			second := t.upload(name, archive)
			equal(t, "the MD5 after an update", second.MD5Hash, hash(archive))
			equal(t, "created after an update", second.Created, first.Created)
			if !second.Updated.After(first.Updated) {
				t.Errorf("updated is %v after %v", second.Updated, first.Updated)
			}
			equal(t, "the MD5 of GET", t.function(name).MD5Hash, second.MD5Hash)
		}},
		{name: "functions/archives", check: func(t *trial) {
			code := module("archives")
			body, kind := form(file{"f.zip", zipArchive(file{"f.wasm", code})})
			for _, c := range []struct {
				name string
				body []byte
				kind string
				sum  string
			}{
				{"zip", zipArchive(file{"f.wasm", code}, file{"README.md", []byte("read me")}), "application/zip", ""},
				{"tar", tarArchive(file{"f.wasm", code}), "application/gzip", ""},
				{"wasm", code, "application/wasm", ""},
				{"untyped", code, "none", ""},
				{"form", body, kind, hash(zipArchive(file{"f.wasm", code}))},
			} {
				name := t.name(c.name)
				r := functionRequest(http.MethodPut, name)
				r.body, r.kind = string(c.body), c.kind
				var f function
				t.do(http.StatusOK, r).decode(t, &f)
				t.Cleanup(func() { t.do(http.StatusNoContent, functionRequest(http.MethodDelete, name)) })
				if c.sum == "" {
					c.sum = hash(c.body)
				}
				equal(t, "the MD5 of the "+c.name, f.MD5Hash, c.sum)
			}
		}},
		{name: "functions/implementation", check: func(t *trial) {
			r := functionRequest(http.MethodPut, t.name("f"))
			r.body, r.kind = string(zipArchive(file{"one.wasm", module("1")}, file{"two.wasm", module("2")})), "application/zip"
			t.Cleanup(func() {
				t.do(http.StatusNoContent, request{as: Developer, method: http.MethodDelete, path: strings.Split(r.path, "?")[0]})
			})
			t.mustRefuse(http.StatusBadRequest, r, "implementation", "one.wasm", "two.wasm")
			path := r.path
			for _, good := range []string{"one", "two.wasm"} {
				r.path = path + "?implementation=" + good
				t.do(http.StatusOK, r)
			}
			r.path = path + "?implementation=three"
			t.mustRefuse(http.StatusBadRequest, r, "implementation", "three")
		}},
		{name: "functions/listed", check: func(t *trial) {
			a, b := t.name("a"), t.name("b")
			t.upload(b, module("b"))
			t.upload(a, module("a"))
			names := t.functionNames()
			if !slices.Contains(names, a) || !slices.Contains(names, b) || !slices.IsSorted(names) {
				t.Errorf("got %v, want %s and %s among them, in order", names, a, b)
			}
		}},
		{name: "functions/names in any letter case", check: func(t *trial) {
			name := t.name("f")
			f := t.upload(strings.ToUpper(name), module("case"))
			equal(t, "the name", f.Name, name)
			equal(t, "the name", t.function(strings.ToUpper(name)).Name, name)
			t.do(http.StatusNoContent, functionRequest(http.MethodDelete, strings.ToUpper(name)))
			t.mustRefuse(http.StatusNotFound, functionRequest(http.MethodGet, name))
		}},
		{name: "functions/states and instances", check: func(t *trial) {
			f := t.awaitRunning(t.puppet)
			if len(f.Status.Instances) == 0 {
				t.Errorf("the function runs without instances")
			}
			names := map[string]bool{}
			for _, i := range f.Status.Instances {
				if names[i.Name] {
					t.Errorf("two instances are %s", i.Name)
				}
				names[i.Name] = true
			}
		}},
		{name: "functions/DELETE is 204, twice", check: func(t *trial) {
			name := t.name("f")
			t.upload(name, module("delete"))
			t.do(http.StatusNoContent, functionRequest(http.MethodDelete, name))
			t.mustRefuse(http.StatusNotFound, functionRequest(http.MethodGet, name), "not found")
			t.do(http.StatusNoContent, functionRequest(http.MethodDelete, name))
			if slices.Contains(t.functionNames(), name) {
				t.Errorf("%s is still listed", name)
			}
		}},
		{name: "functions/log", check: func(t *trial) {
			lane := t.lanes.take()
			t.config(t.play(lane, object{"size": 1}, nil))
			t.ticket(map[string]float64{"lane": lane}).result(t)
			for _, query := range []string{"", "?seconds=60", "?seconds=1800", "?seconds=86400"} {
				// Instances come and go under load, also between the two requests.
				t.eventually("the function's log says what it printed, and has all instances", func() bool {
					instances := t.function(t.puppet).Status.Instances
					var log struct{ Logs map[string]string }
					t.do(http.StatusOK, request{as: Developer, method: http.MethodGet,
						path: "functions/" + t.puppet + "/log" + query}).decode(t, &log)
					said := false
					for _, text := range log.Logs {
						said = said || strings.Contains(text, "the puppet proposes a match of 1")
					}
					return said && !slices.ContainsFunc(instances, func(i struct{ Name, State string }) bool {
						_, there := log.Logs[i.Name]
						return !there && i.State == "Running"
					})
				})
			}
		}},
		{name: "functions/restarted", check: func(t *trial) {
			name := t.name("f")
			before := t.upload(name, module("restart"))
			restart := request{as: Developer, method: http.MethodPost, path: "functions/actions/restart",
				body: `{"functions":["` + strings.ToUpper(name) + `"]}`}
			var got struct {
				Functions []struct{ Name, State string }
			}
			t.do(http.StatusOK, restart).decode(t, &got)
			if len(got.Functions) != 1 || got.Functions[0].Name != name || got.Functions[0].State != "Pending" {
				t.Errorf("got %+v, want %s, Pending", got, name)
			}
			if after := t.function(name); after.Updated != before.Updated {
				t.Errorf("updated is %v after a restart, was %v", after.Updated, before.Updated)
			}
		}},
		{name: "functions/restart makes new instances", check: func(t *trial) {
			name := t.name("f")
			t.upload(name, module("instances"))
			before := t.awaitRunning(name).Status.Instances
			t.do(http.StatusOK, request{as: Developer, method: http.MethodPost, path: "functions/actions/restart",
				body: `{"functions":["` + name + `"]}`})
			t.eventually("the function has other instances", func() bool {
				f := t.function(name)
				return f.Status.State == "Running" && !slices.ContainsFunc(f.Status.Instances,
					func(i struct{ Name, State string }) bool {
						return slices.Contains(before, i)
					})
			})
		}},
	}
}
