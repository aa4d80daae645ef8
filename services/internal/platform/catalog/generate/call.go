package main

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// path is a path of the document.
type path struct {
	Parameters             []parameter
	Get, Put, Post, Delete *operation
}

// operation is a method of a path.
type operation struct {
	ID          string `yaml:"operationId"`
	Summary     string
	Description string
	Parameters  []parameter
	// Repeatable: to send a request twice has the same effect as to send it once.
	Repeatable  bool `yaml:"x-repeatable"`
	RequestBody struct {
		Content map[string]media
	} `yaml:"requestBody"`
	Responses map[string]response
}

type parameter struct {
	Ref      string `yaml:"$ref"`
	Name, In string
	Required bool
}

type response struct {
	Ref     string `yaml:"$ref"`
	Content map[string]media
}

type media struct{ Schema *schema }

// call is a method of the client that does what an operation does.
type call struct {
	// arguments are behind the context, and request are members of the struct that says what is asked for.
	arguments, request []string
}

func (c *call) argument(name, goType string) string {
	name = goName(name)
	if lower := strings.ToLower(name); lower == "id" {
		name = lower
	}
	name = strings.ToLower(name[:1]) + name[1:]
	c.arguments = append(c.arguments, name+" "+goType)
	return name
}

// methods returns the client's calls for some operations.
func (t *types) methods(ids []string) string {
	var b strings.Builder
	for _, p := range t.Paths {
		for method, o := range p.value.operations() {
			if slices.Contains(ids, o.ID) {
				b.WriteString(t.method(p.name, method, p.value, o))
			}
		}
	}
	return b.String()
}

func (p *path) operations() iter.Seq2[string, *operation] {
	return func(yield func(string, *operation) bool) {
		for i, o := range []*operation{p.Get, p.Put, p.Post, p.Delete} {
			if o != nil && !yield([]string{"Get", "Put", "Post", "Delete"}[i], o) {
				return
			}
		}
	}
}

// method returns the call of an operation.
func (t *types) method(address, method string, p *path, o *operation) string {
	if below, versioned := strings.CutPrefix(address, "/api/"); versioned {
		address = below
	} else {
		address = "v1" + address
	}
	c := &call{request: []string{fmt.Sprintf("method: http.Method%s, path: %q", method, address)}}
	t.addParameters(c, append(p.Parameters, o.Parameters...), "path", "segments: []string{", "%[2]s")
	t.addParameters(c, append(p.Parameters, o.Parameters...), "query", "query: url.Values{", "%q: {%s}")
	if body, ok := o.RequestBody.Content["application/json"]; ok {
		t.addBody(c, body.Schema)
	}
	if slices.ContainsFunc(o.Parameters, func(p parameter) bool { return t.parameter(p).Name == "X-On-Behalf-Of" }) {
		c.request = append(c.request, "player: "+c.argument("onBehalfOf", "string"))
	}
	if o.Repeatable || method != "Post" {
		c.request = append(c.request, "repeatable: true")
	}
	result, body := t.answer(o)
	if result == "error" && method == "Delete" {
		c.request = append(c.request, "removes: true")
	}
	title := strings.ToUpper(o.ID[:1]) + o.ID[1:]
	return "\n" + comment("", title+": "+o.Summary+".\n\n"+o.Description) + fmt.Sprintf(
		"func (c *Client) %s(ctx context.Context, %s) %s {\n%s\n}\n", title, strings.Join(c.arguments, ", "), result,
		strings.ReplaceAll(body, "CALL", "plainCall{\n"+strings.Join(c.request, ",\n")+",\n}"))
}

func (t *types) parameter(p parameter) parameter {
	if p.Ref == "" {
		return p
	}
	return t.Components.Parameters[referred(p.Ref)]
}

// addParameters adds the parameters of a place that a request must have.
func (t *types) addParameters(c *call, all []parameter, in, begin, format string) {
	var list []string
	for _, p := range all {
		if p = t.parameter(p); p.In == in && p.Required {
			list = append(list, fmt.Sprintf(format, p.Name, c.argument(p.Name, "string")))
		}
	}
	if len(list) > 0 {
		c.request = append(c.request, begin+strings.Join(list, ", ")+"}")
	}
}

// addBody adds the body. The only member of a body is an argument by itself, a list as its
// elements.
func (t *types) addBody(c *call, s *schema) {
	of, name, _ := t.resolve(s)
	if len(of.Properties) != 1 {
		t.need(name)
		c.request = append(c.request, "body: "+c.argument("body", name))
		return
	}
	only := of.Properties[0]
	c.request = append(c.request, fmt.Sprintf("body: map[string]any{%q: %s}", only.name,
		c.argument(only.name, strings.Replace(t.goType(only.value), "[]", "...", 1))))
}

// answer is what a call returns, and its body, in which CALL stands for the request. The only member of an answer is
// returned by itself if it is a list.
func (t *types) answer(o *operation) (result, body string) {
	content := t.contentOf(o)
	if _, file := content["application/octet-stream"]; file {
		return "(file []byte, err error)", "err = c.call(ctx, CALL, &file)\nreturn file, err"
	}
	media, ok := content["application/json"]
	if !ok {
		return "error", "return c.call(ctx, CALL, nil)"
	}
	of, name, _ := t.resolve(media.Schema)
	if len(of.Properties) != 1 || of.Properties[0].value.Items == nil {
		t.need(name)
		return "(*" + name + ", error)", "return ask[" + name + "](ctx, c, CALL)"
	}
	only := of.Properties[0]
	list := t.goType(only.value)
	return "(" + list + ", error)", fmt.Sprintf("var answer struct {\nList %s `json:%q`\n}\n", list, only.name) +
		"err := c.call(ctx, CALL, &answer)\nreturn answer.List, err"
}

// contentOf is the content of the answer that is success.
func (t *types) contentOf(o *operation) map[string]media {
	for _, status := range []string{"200", "201"} {
		r, ok := o.Responses[status]
		if r.Ref != "" {
			r = t.Components.Responses[referred(r.Ref)]
		}
		if ok {
			return r.Content
		}
	}
	return nil
}
