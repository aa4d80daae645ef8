package response

import "matchmaker.dev/services/internal/observe/report"

// NewMeasures are distributions as answers have them: none is an empty list.
func NewMeasures(all []report.Distribution) []Measure {
	measures := make([]Measure, len(all))
	for i, d := range all {
		measures[i] = Measure{Kind: d.Kind, Name: d.Name, Count: d.Count, Mean: d.Mean, P10: d.P10, P50: d.P50, P90: d.P90}
	}
	return measures
}
