package main

import (
	"errors"
	"fmt"
	"go/format"
	"path/filepath"

	"matchmaker.dev/services/internal/edge/openapi/document"
)

// plainCalls are the operations that the client has as they are. The others are written by hand: they wait, follow,
// upload, have conditions, or queries that are not as in the document.
func plainCalls() []string {
	return []string{
		"deleteTicket", "listRegions", "myParty", "getParty", "disbandParty", "setPartyLeader", "renewPartyCode",
		"stopPartySearch", "captureRun", "explainTicket", "getMatch", "reportResult", "runningMatch",
		"playerRatings", "ratingHistory", "playerStanding", "setStanding", "listConfigs", "deleteConfig", "configHistory",
		"startSimulation", "getSimulation",
		"erasePlayer", "listQueues",
		"settingsHistory", "listFunctions", "getFunction", "deleteFunction", "getFunctionVersions", "rollbackFunction",
		"shadowFunction", "canaryFunction", "promoteFunction", "setFunctionReturn", "restartFunctions", "approveBackfill",
		"backfillV1", "listWebhooks", "listDeadLetters", "deleteDeadLetter", "sendDeadLetter",
	}
}

// query is the name of a call that has a query, and of the query's type.
type query struct{ method, name string }

// queries are the further operations that the client has as they are.
func queries() map[string]query {
	return map[string]query{
		"listMatches": {"ListMatches", "MatchQuery"}, "listBackfills": {"ListBackfills", "BackfillQuery"},
		"listChanges": {"ListChanges", "ChangeQuery"}, "getMatchReport": {"ReportMatches", "MatchReportQuery"},
		"leaderboard": {"Leaderboard", "LeaderboardQuery"},
	}
}

// api returns the Go files that are made from the OpenAPI document, by their paths.
func api(root string, doc *document.Document) (map[string]string, error) {
	sdk := &types{Document: doc, object: "Object", time: "time.Time",
		undecoded: []string{"ConfigChange.config", "SettingsChange.settings",
			"StartSimulation.config", "Simulation.tried"},
		// Calls that are written by hand have these.
		needed: []string{"Ticket", "ProjectSettings", "Config", "CheckedConfig", "EventPage", "WaitingPage",
			"BackfillRequest", "BackfillTicket", "LogLine", "Validation"},
	}
	calls := sdk.methods(plainCalls())
	server := &types{Document: doc, object: "json.RawMessage", time: "string", nulls: true}
	for _, p := range doc.Paths {
		for _, o := range p.Value.Operations() {
			if media, ok := server.Content(o)["application/json"]; ok {
				server.goType(media.Schema)
			}
		}
	}
	files := map[string]string{}
	clientCodes, serviceCodes := codes(doc)
	for name, source := range map[string]string{
		"pkg/client/types.go":                      "package client\nimport (\"encoding/json\"; \"time\")\n" + sdk.write(),
		"pkg/client/calls.go":                      `package client;import("context";"net/http";"net/url";"time");` + calls,
		"pkg/client/codes.go":                      clientCodes,
		"services/internal/edge/problem/codes.go":  serviceCodes,
		"services/internal/edge/response/types.go": "package response\nimport \"encoding/json\"\n" + server.write(),
	} {
		if sdk.err != nil || server.err != nil {
			return nil, fmt.Errorf("openapi.yaml: %w", errors.Join(sdk.err, server.err))
		}
		text, err := format.Source([]byte("// Code generated from openapi.yaml. DO NOT EDIT.\n\n" + source))
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", name, err, source)
		}
		files[filepath.Join(root, name)] = string(text)
	}
	return files, nil
}
