package main

import (
	"fmt"
	"slices"
	"strings"

	"matchmaker.dev/services/internal/edge/openapi/document"
)

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

// methods returns the client's calls for some operations, and for those with a query.
func (t *types) methods(ids []string) string {
	var b strings.Builder
	for _, p := range t.Paths {
		for method, o := range p.Value.Operations() {
			if _, asks := queries()[o.ID]; asks || slices.Contains(ids, o.ID) {
				b.WriteString(t.method(p.Name, method, p.Value, o))
			}
		}
	}
	return b.String()
}

// method returns the call of an operation, behind the type of its query if that has one.
func (t *types) method(address, method string, p *document.Path, o *document.Operation) string {
	c := &call{request: []string{fmt.Sprintf("method: http.Method%s, path: %q", method, document.Address(address))}}
	all := slices.Concat(p.Parameters, o.Parameters)
	t.addParameters(c, all, "path", "segments: []string{", "%[2]s")
	t.addParameters(c, all, "query", "query: url.Values{", "%q: {%s}")
	title, text, queryType := strings.ToUpper(o.ID[:1])+o.ID[1:], o.Description, ""
	if asked, has := queries()[o.ID]; has {
		title, queryType = asked.method, t.addQuery(c, asked, all)
		if slices.Equal(o.Callers(), []string{"developer", "support"}) {
			text += " The token must be a developer's; the role Support is enough."
		}
	}
	if body, ok := o.RequestBody.Content["application/json"]; ok {
		t.addBody(c, body.Schema)
	}
	acts := func(p document.Parameter) bool { return t.Parameter(p).Name == "X-On-Behalf-Of" }
	if slices.ContainsFunc(o.Parameters, acts) {
		c.request = append(c.request, "player: "+c.argument("onBehalfOf", "string"))
	}
	if o.Repeatable || method != "Post" {
		c.request = append(c.request, "repeatable: true")
	}
	result, body := t.answer(o)
	if result == "error" && method == "Delete" {
		c.request = append(c.request, "removes: true")
	}
	return queryType + "\n" + comment("", title+": "+o.Summary+".\n\n"+text) + fmt.Sprintf(
		"func (c *Client) %s(ctx context.Context, %s) %s {\n%s\n}\n", title, strings.Join(c.arguments, ", "), result,
		strings.ReplaceAll(body, "CALL", "plainCall{\n"+strings.Join(c.request, ",\n")+",\n}"))
}

// addParameters adds the parameters of a place that a request must have.
func (t *types) addParameters(c *call, all []document.Parameter, in, begin, format string) {
	var list []string
	for _, p := range all {
		if p = t.Parameter(p); p.In == in && p.Required {
			list = append(list, fmt.Sprintf(format, p.Name, c.argument(p.Name, "string")))
		}
	}
	if len(list) > 0 {
		c.request = append(c.request, begin+strings.Join(list, ", ")+"}")
	}
}

// addQuery adds the parameters that a request may have as a struct, and returns its type. Numbers that are no integers
// are lengths of time. Only the first sentence of a description is for Go too.
func (t *types) addQuery(c *call, asked query, all []document.Parameter) string {
	var fields, request strings.Builder
	for _, p := range all {
		if p = t.Parameter(p); p.In == "query" && !p.Required {
			text, _, _ := strings.Cut(strings.TrimSuffix(p.Description, "."), ". ")
			goType := strings.Replace(t.goType(p.Schema), "float64", "time.Duration", 1)
			fmt.Fprintf(&fields, "%s%s %s\n", comment("\t", text+"."), goName(p.Name), goType)
			fmt.Fprintf(&request, "%q: q.%s,\n", p.Name, goName(p.Name))
		}
	}
	c.arguments = append(c.arguments, "q "+asked.name)
	c.request = append(c.request, "query: parameters(map[string]any{\n"+request.String()+"})")
	return fmt.Sprintf("\n// %s is what [Client.%s] may be asked for. A field that is zero is left out of the request.\n"+
		"type %[1]s struct {\n%[3]s}\n", asked.name, asked.method, fields.String())
}

// addBody adds the body. The only member of a body is an argument by itself, a list as its elements.
func (t *types) addBody(c *call, s *document.Schema) {
	of, name, _ := t.resolve(s)
	if len(of.Properties) != 1 {
		t.need(name)
		c.request = append(c.request, "body: "+c.argument("body", name))
		return
	}
	only := of.Properties[0]
	c.request = append(c.request, fmt.Sprintf("body: map[string]any{%q: %s}", only.Name,
		c.argument(only.Name, strings.Replace(t.goType(only.Value), "[]", "...", 1))))
}

// answer is what a call returns, and its body, in which CALL stands for the request. The only member of an answer is
// returned by itself if it is a list.
func (t *types) answer(o *document.Operation) (result, body string) {
	content := t.Content(o)
	if _, file := content["application/octet-stream"]; file {
		return "(file []byte, err error)", "err = c.call(ctx, CALL, &file)\nreturn file, err"
	}
	media, ok := content["application/json"]
	if !ok {
		return "error", "return c.call(ctx, CALL, nil)"
	}
	of, name, _ := t.resolve(media.Schema)
	if len(of.Properties) != 1 || of.Properties[0].Value.Items == nil {
		t.need(name)
		return "(*" + name + ", error)", "return ask[" + name + "](ctx, c, CALL)"
	}
	only := of.Properties[0]
	list := t.goType(only.Value)
	return "(" + list + ", error)", fmt.Sprintf("var answer struct {\nList %s `json:%q`\n}\n", list, only.Name) +
		"err := c.call(ctx, CALL, &answer)\nreturn answer.List, err"
}
