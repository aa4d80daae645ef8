package client

import (
	"encoding/json"
	"fmt"
	"math"
)

// Values are what rules know of a player, or of all players of a ticket, beside attributes. A value is a string, a
// number, a set of strings ([]string) or a map of numbers (map[string]float64), such as the latency by region:
//
//	properties, err := client.Values{
//		"roles":   []string{"tank", "damage"},
//		"latency": map[string]float64{"eu": 32, "us": 110},
//	}.Properties()
//
// What encoding/json makes of such values, []any and map[string]any, is good too.
type Values map[string]any

// Properties returns the values as properties of a [Player] or a [TicketRequest]: each is its JSON.
func (v Values) Properties() (map[string][]byte, error) {
	properties := make(map[string][]byte, len(v))
	for name, value := range v {
		if err := checkValue(value); err != nil {
			return nil, fmt.Errorf("value %s: %w", name, err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("value %s: %w", name, err)
		}
		properties[name] = text
	}
	return properties, nil
}

func checkValue(value any) error {
	switch v := value.(type) {
	case string, []string, int:
		return nil
	case float64:
		return checkNumber(v)
	case map[string]float64:
		for name, n := range v {
			if err := checkNumber(n); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	case []any:
		for i, e := range v {
			if _, ok := e.(string); !ok {
				return fmt.Errorf("element %d is %T, and a set has strings", i, e)
			}
		}
		return nil
	case map[string]any:
		for name, e := range v {
			if _, ok := e.(float64); !ok {
				return fmt.Errorf("%s is %T, and a map has numbers", name, e)
			}
		}
		return nil
	}
	return fmt.Errorf("is %T, and not a string, a number, a []string or a map[string]float64", value)
}

func checkNumber(n float64) error {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return fmt.Errorf("%v is not a finite number", n)
	}
	return nil
}
