package main

import (
	"bytes"
	"encoding/json"
	"io"

	"go.yaml.in/yaml/v3"
)

// writeYAML writes what a value is as JSON, so that both have the same members in the same order.
func writeYAML(w io.Writer, value any) error {
	text, err := encode(value, "")
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	node, err := yamlNode(decoder)
	if err != nil {
		return err
	}
	out := yaml.NewEncoder(w)
	out.SetIndent(2)
	if err := out.Encode(node); err != nil {
		return err
	}
	return out.Close()
}

// yamlNode reads the next value.
func yamlNode(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	node := new(yaml.Node)
	switch is := token.(type) {
	case json.Number: // as it is written: a long integer keeps its digits
		return &yaml.Node{Kind: yaml.ScalarNode, Value: is.String()}, nil
	case json.Delim:
		node.Kind = yaml.MappingNode
		if is == '[' {
			node.Kind = yaml.SequenceNode
		}
		for d.More() { // in an object, names and values come in turn
			element, err := yamlNode(d)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, element)
		}
		_, err := d.Token() // the end
		return node, err
	}
	return node, node.Encode(token)
}
