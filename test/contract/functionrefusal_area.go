package contract

import (
	"io"
	"net/http"
	"strings"
)

func functionRefusals() []requirement {
	restart := func(body string) request {
		return request{as: Developer, method: http.MethodPost, path: "functions/actions/restart", body: body}
	}
	// Uploads, and the text in the detail.
	uploads := []struct {
		name   string
		body   []byte
		detail string
	}{
		{"no file", nil, "zero length"},
		{"unsupported archive", []byte("7z\xbc\xaf\x27\x1c and more"), "unsupported archive"},
		{"text", []byte("#!/bin/sh"), "unsupported archive"},
		{"no module in the archive", zipArchive(file{"README.md", []byte("read me")}), "no .wasm module"},
		{"an archive that breaks off", zipArchive(file{"f.wasm", module("")})[:100], "archive"},
		{"a folder in the archive", zipArchive(file{"folder/f.wasm", module("")}), "folder"},
		{"a way out of the archive", zipArchive(file{"../f.wasm", module("")}), "folder"},
		{"a module that is none", []byte("\x00asm\x01\x00\x00\x00 and no more"), "file"},
		{"a module without the exports", []byte("\x00asm\x01\x00\x00\x00"), "mm_"},
	}
	var all []requirement
	for _, c := range uploads {
		all = append(all, requirement{name: "functions/refused: " + c.name, check: func(t *trial) {
			name := t.name("f")
			r := functionRequest(http.MethodPut, name)
			r.body, r.kind = string(c.body), "application/octet-stream"
			t.mustRefuse(http.StatusBadRequest, r, c.detail)
			t.mustRefuse(http.StatusNotFound, functionRequest(http.MethodGet, name))
		}})
	}
	return append(all,
		requirement{name: "functions/refused: a form without a file", check: func(t *trial) {
			r := functionRequest(http.MethodPut, t.name("f"))
			r.body = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x--\r\n"
			r.kind = "multipart/form-data; boundary=x"
			t.mustRefuse(http.StatusBadRequest, r, "missing")
			r.kind = "multipart/form-data"
			t.mustRefuse(http.StatusBadRequest, r, "boundary")
		}},
		requirement{name: "functions/refused: bad names", check: func(t *trial) {
			for _, name := range []string{"a b", "-a", "a-", ".a", "a.", "a/b", "ä", "a%b", strings.Repeat("a", 65), "\u212a"} {
				for _, method := range []string{http.MethodPut, http.MethodGet, http.MethodDelete} {
					r := functionRequest(method, name)
					if method == http.MethodPut {
						r.body, r.kind = string(module("")), "application/wasm"
					}
					t.mustRefuse(http.StatusBadRequest, r, "name")
				}
				r := functionRequest(http.MethodGet, name)
				r.path += "/log"
				t.mustRefuse(http.StatusBadRequest, r, "name")
			}
		}},
		requirement{name: "functions/refused: file too long", check: func(t *trial) {
			const most = 32 << 20
			for _, declared := range []bool{true, false} {
				r := functionRequest(http.MethodPut, t.name("f"))
				r.header = header("Expect", "100-continue")
				r.stream, r.length = zeros(most+1), most+1
				if !declared {
					r.stream, r.length = io.MultiReader(strings.NewReader("\x00asm"), zeros(most)), -1
				}
				t.mustRefuse(http.StatusBadRequest, r, "longer than the maximum")
			}
		}},
		requirement{name: "functions/unknown function is 404", check: func(t *trial) {
			r := functionRequest(http.MethodGet, t.name("f"))
			t.mustRefuse(http.StatusNotFound, r, "not found")
			r.path += "/log"
			t.mustRefuse(http.StatusNotFound, r, "not found")
		}},
		requirement{name: "functions/log: bad time range is 400", check: func(t *trial) {
			for _, seconds := range []string{"0", "-1", "x", "1.5", "", "1e3", "99999999999999999999", "99999999"} {
				t.mustRefuse(http.StatusBadRequest, request{as: Developer, method: http.MethodGet,
					path: "functions/" + t.puppet + "/log?seconds=" + seconds}, "time range")
			}
		}},
		requirement{name: "functions/repeated query parameters are 400", check: func(t *trial) {
			log := request{as: Developer, method: http.MethodGet, path: "functions/" + t.puppet + "/log"}
			for query, name := range map[string]string{"?seconds=1&seconds=1": "seconds", "?after=1&after=2": "after",
				"?seconds=1&%73econds=2": "seconds"} {
				r := log
				r.path += query
				t.mustRefuse(http.StatusBadRequest, r, name, "more than once")
			}
			upload := functionRequest(http.MethodPut, t.name("f"))
			upload.path += "?implementation=a&implementation=a"
			upload.body, upload.kind = "x", "application/wasm"
			t.mustRefuse(http.StatusBadRequest, upload, "implementation", "more than once")
			log.path += "?unknown=1&unknown=2"
			t.do(http.StatusOK, log)
		}},
		requirement{name: "functions/log: the longest time range is named", check: func(t *trial) {
			t.mustRefuse(http.StatusBadRequest, request{as: Developer, method: http.MethodGet,
				path: "functions/" + t.puppet + "/log?seconds=99999999"}, "from 1 to ")
		}},
		requirement{name: "functions/restart of unknown functions is 404", check: func(t *trial) {
			unknown := t.name("f")
			t.mustRefuse(http.StatusNotFound, restart(`{"functions":["`+unknown+`"]}`), unknown)
			t.mustRefuse(http.StatusNotFound, restart(`{"functions":["`+t.puppet+`","`+unknown+`"]}`), unknown)
		}},
		requirement{name: "functions/restart: bad bodies are 400", check: func(t *trial) {
			for _, body := range []string{`{}`, `{"functions":[]}`, `{"functions":null}`, `{"functions":"a"}`,
				`{"functions":[1]}`, `{"functions":[null]}`, `{"functions":["a",null]}`, `{"function":["a"]}`, `[]`, `null`} {
				t.mustRefuse(http.StatusBadRequest, restart(body))
			}
		}},
	)
}
