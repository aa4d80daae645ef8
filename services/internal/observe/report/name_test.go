package report_test

import (
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/observe/report"
)

// A client of the API has no code of services, and names parties by itself.
func TestNamesOfPartiesAreTheSameEverywhere(t *testing.T) {
	for party := range report.LargestParty + 2 {
		row := client.MatchReportRow{Party: party}
		if got, want := row.Name("party"), report.PartyName(party); got != want {
			t.Errorf("%d players: %q, in a client %q", party, want, got)
		}
	}
}
