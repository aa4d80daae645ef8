package client_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

// Every call, as the contract has it on the wire: request line, headers, body, answer, and what comes back to the
// caller.
func TestWire(t *testing.T) {
	bound := func(f float64) *float64 { return &f }
	tests := []struct {
		name   string
		reply  reply
		call   func(ctx context.Context, c *client.Client) (any, error)
		line   string
		header map[string]string
		body   string
		want   any
	}{{
		name:  "create ticket",
		reply: reply{status: 201, body: `{"id":"t1","status":null}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateTicket(ctx, client.TicketRequest{
				Player: "player-1", Attributes: map[string]float64{"skill": 1200.5},
				Properties: map[string][]byte{"k": []byte("hé")},
			})
		},
		line:   "POST /demo/matchmaking/api/v1/tickets",
		header: map[string]string{"X-On-Behalf-Of": "player-1", "Content-Type": "application/json"},
		body:   `{"attributes":{"skill":1200.5},"properties":{"k":"aMOp"}}`,
		want:   "t1",
	}, {
		name:  "create ticket without a thing",
		reply: reply{status: 201, body: `{"ID":"t1"}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateTicket(ctx, client.TicketRequest{})
		},
		line:   "POST /demo/matchmaking/api/v1/tickets",
		header: map[string]string{"X-On-Behalf-Of": ""},
		body:   `{}`,
		want:   "t1",
	}, {
		name: "get waiting ticket",
		reply: reply{status: 200,
			body: `{"id":"a b&c","attributes":{"skill":1},"properties":{"k":"aMOp"},"created":1600000000000,"assignment":null}`},
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.GetTicket(ctx, "a b&c") },
		line: "GET /demo/matchmaking/api/v1/tickets?id=a+b%26c",
		want: &client.Ticket{ID: "a b&c", Attributes: map[string]float64{"skill": 1},
			Properties: map[string][]byte{"k": []byte("hé")}, Created: 1600000000000},
	}, {
		name: "get assigned ticket in other casing",
		reply: reply{status: 200,
			body: `{"Id":"t1","Assignment":{"Connection":"10.0.0.1:7000","Error":null,"Properties":null,"MatchProperties":{"map":"x"}}}`},
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.GetTicket(ctx, "t1") },
		line: "GET /demo/matchmaking/api/v1/tickets?id=t1",
		want: &client.Ticket{ID: "t1", Assignment: &client.Assignment{
			Connection: "10.0.0.1:7000", MatchProperties: client.Object(`{"map":"x"}`)}},
	}, {
		name:  "create ticket with a key",
		reply: reply{status: 201, body: `{"id":"t1"}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateTicket(ctx, client.TicketRequest{IdempotencyKey: `a"b\c`})
		},
		line:   "POST /demo/matchmaking/api/v1/tickets",
		header: map[string]string{"Idempotency-Key": `"a\"b\\c"`},
		body:   `{}`,
		want:   "t1",
	}, {
		name:  "list tickets",
		reply: reply{status: 200, body: `{"tickets":[{"id":"t1","created":5},{"id":"t0"}]}`},
		call:  func(ctx context.Context, c *client.Client) (any, error) { return c.Tickets(ctx, "a b") },
		line:  "GET /demo/matchmaking/api/v1/tickets?player=a+b",
		want:  []*client.Ticket{{ID: "t1", Created: 5}, {ID: "t0"}},
	}, {
		name:  "delete ticket",
		reply: reply{status: 200},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return nil, c.DeleteTicket(ctx, "t1", "player-1")
		},
		line:   "DELETE /demo/matchmaking/api/v1/tickets?id=t1",
		header: map[string]string{"X-On-Behalf-Of": "player-1", "Content-Type": ""},
	}, {
		name:  "create config",
		reply: reply{status: 200, body: `{"id":"guid"}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateConfig(ctx, client.Config{
				Matchmaking: client.Matchmaking{Name: "n", Config: json.RawMessage(`{"teamSize":1}`),
					TargetFunction: client.FunctionTarget{Name: "duel", Version: "1"}},
				Pools: map[string][]client.PoolFilter{"all": {{Attribute: "skill", Min: bound(0), Max: bound(3000),
					Segmentation: &client.Segmentation{DistributionType: "Normal", SegmentBehaviorType: "BucketCount", Value: 3,
						Stddev: bound(2.5)}}}},
				Hosting: &client.Hosting{Profile: "p", Access: "a", Secret: "s", FleetID: "f"},
			})
		},
		line: "POST /demo/matchmaking/api/v1/configs",
		body: `{"matchmaking":{"name":"n","targetFunction":{"name":"duel","version":"1"},"config":{"teamSize":1}},
			"pools":{"all":[{"attribute":"skill","min":0,"max":3000,
				"segmentation":{"DistributionType":"Normal","SegmentBehaviorType":"BucketCount","Value":3,"Stddev":2.5}}]},
			"hosting":{"Profile":"p","Access":"a","Secret":"s","FleetId":"f"}}`,
		want: "guid",
	}, {
		name: "explain ticket",
		reply: reply{status: 200, body: `{"id":"t/1","state":"waiting","waited":2.5,"players":1,"configs":[{"config":"c",` +
			`"function":"f","serves":true,"inPool":true,"pools":[{"pool":"p","holds":true,"filters":[{"attribute":"skill",` +
			`"min":0,"value":3,"holds":true}]}],"run":{"tickets":2,"proposals":1,"proposed":false,` +
			`"reasons":[{"reason":"near","candidates":4},{"reason":"far"}]}}]}`},
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.ExplainTicket(ctx, "t/1") },
		line: "GET /demo/matchmaking/api/v1/tickets/t%2F1/explanation",
		want: &client.TicketExplanation{ID: "t/1", State: "waiting", Waited: 2.5, Players: 1,
			Configs: []client.ConfigExplanation{{Config: "c", Function: "f", Serves: true, InPool: true,
				Pools: []client.PoolExplanation{{Pool: "p", Holds: true, Filters: []client.FilterExplanation{
					{Attribute: "skill", Min: bound(0), Value: bound(3), Holds: true}}}},
				Run: &client.RunExplanation{Tickets: 2, Proposals: 1,
					Reasons: []client.Reason{{Reason: "near", Candidates: new(4)}, {Reason: "far"}}}}}},
	}, {
		name: "list configs",
		reply: reply{status: 200, body: `{"configs":[{"id":"a","etag":"\"3\"","function":"duel","pools":0,"hosted":false,"more":1},` +
			`{"id":"b","etag":"\"4\"","name":"B","function":"arena","queue":"q","pools":2,"hosted":true}]}`},
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.ListConfigs(ctx) },
		line: "GET /demo/matchmaking/api/v1/configs",
		want: []client.ListedConfig{{ID: "a", ETag: `"3"`, Function: "duel"},
			{ID: "b", ETag: `"4"`, Name: "B", Function: "arena", Queue: "q", Pools: 2, Hosted: true}},
	}, {
		name:  "get config",
		reply: reply{status: 200, header: map[string]string{"ETag": `"3"`}, body: `{"matchmaking":{"name":"n"},"more":1}`},
		call:  func(ctx context.Context, c *client.Client) (any, error) { return c.GetConfig(ctx, "ranked/eu") },
		line:  "GET /demo/matchmaking/api/v1/configs/ranked%2Feu",
		want: &client.StoredConfig{Config: client.Config{Matchmaking: client.Matchmaking{Name: "n"}},
			ETag: `"3"`, JSON: json.RawMessage(`{"matchmaking":{"name":"n"},"more":1}`)},
	}, {
		name:  "put config",
		reply: reply{status: 200, header: map[string]string{"ETag": `"4"`}},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.PutConfig(ctx, "ranked", client.Config{}, `"3"`)
		},
		line:   "PUT /demo/matchmaking/api/v1/configs/ranked",
		header: map[string]string{"If-Match": `"3"`},
		body:   `{"matchmaking":{"targetFunction":{"name":""}}}`,
		want:   `"4"`,
	}, {
		name:  "put config as it is",
		reply: reply{status: 200},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.SaveConfig(ctx, "ranked", json.RawMessage(`{"odd":1}`), "")
		},
		line:   "PUT /demo/matchmaking/api/v1/configs/ranked",
		header: map[string]string{"If-Match": ""},
		body:   `{"odd":1}`,
		want:   client.SavedConfig{ID: "ranked"},
	}, {
		name:  "save config",
		reply: reply{status: 200, header: map[string]string{"ETag": `"4"`, "X-Config-Warning": "odd: matchmaking: hm: ha"}},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.SaveConfig(ctx, "ranked", json.RawMessage(`{"odd":1}`), `"3"`)
		},
		line:   "PUT /demo/matchmaking/api/v1/configs/ranked",
		header: map[string]string{"If-Match": `"3"`},
		body:   `{"odd":1}`,
		want: client.SavedConfig{ID: "ranked", ETag: `"4"`,
			Warnings: []client.Validation{{ResultCode: "odd", Message: "matchmaking: hm: ha"}}},
	}, {
		name:  "save config under an identifier of the service",
		reply: reply{status: 200, body: `{"id":"guid"}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.SaveConfig(ctx, "", json.RawMessage(`{"odd":1}`), "")
		},
		line: "POST /demo/matchmaking/api/v1/configs",
		body: `{"odd":1}`,
		want: client.SavedConfig{ID: "guid"},
	}, {
		name:  "check config",
		reply: reply{status: 200, body: `{"creates":true,"warnings":[{"ResultCode":"odd","Message":"hm"}],"more":1}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CheckConfig(ctx, "a b", json.RawMessage(`{"odd":1}`), `"3"`)
		},
		line:   "POST /demo/matchmaking/api/v1/configs/actions/check?id=a+b",
		header: map[string]string{"If-Match": `"3"`},
		body:   `{"odd":1}`,
		want:   client.CheckedConfig{Creates: true, Warnings: []client.Validation{{ResultCode: "odd", Message: "hm"}}},
	}, {
		name: "history of a config",
		reply: reply{status: 200, body: `{"changes":[{"etag":"\"4\"","changed":"2030-01-02T03:04:05.006Z","by":"olga",` +
			`"deleted":true},{"etag":"\"3\"","config":{"odd":1},"current":true}]}`},
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.ConfigHistory(ctx, "ranked/eu") },
		line: "GET /demo/matchmaking/api/v1/configs/ranked%2Feu/history",
		want: []client.ConfigChange{
			{ETag: `"4"`, Changed: time.Date(2030, 1, 2, 3, 4, 5, 6e6, time.UTC), By: "olga", Deleted: true},
			{ETag: `"3"`, Config: json.RawMessage(`{"odd":1}`), Current: true},
		},
	}, {
		name:  "roll a config back",
		reply: reply{status: 200, header: map[string]string{"ETag": `"5"`}, body: `{}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.RollbackConfig(ctx, "ranked", `"3"`, `"4"`)
		},
		line:   "POST /demo/matchmaking/api/v1/configs/ranked/actions/rollback",
		header: map[string]string{"If-Match": `"4"`, "If-None-Match": ""},
		body:   `{"etag":"\"3\""}`,
		want:   client.SavedConfig{ID: "ranked", ETag: `"5"`},
	}, {
		name:  "bring a config back",
		reply: reply{status: 200, header: map[string]string{"ETag": `"5"`}, body: `{}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.RollbackConfig(ctx, "ranked", `"3"`, client.Absent)
		},
		line:   "POST /demo/matchmaking/api/v1/configs/ranked/actions/rollback",
		header: map[string]string{"If-Match": "", "If-None-Match": "*"},
		body:   `{"etag":"\"3\""}`,
		want:   client.SavedConfig{ID: "ranked", ETag: `"5"`},
	}, {
		name: "get settings",
		reply: reply{status: 200, header: map[string]string{"ETag": `"3"`},
			body: `{"attributes":{"a":{"setBy":"claim","claim":"b.c"}},"properties":{"*":{"setBy":"client"}},"more":1}`},
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.GetSettings(ctx) },
		line: "GET /demo/matchmaking/api/v1/settings",
		want: &client.StoredSettings{
			ProjectSettings: client.ProjectSettings{
				Attributes: map[string]client.AttributeRule{"a": {SetBy: "claim", Claim: "b.c"}},
				Properties: map[string]client.PropertyRule{"*": {SetBy: "client"}}},
			ETag: `"3"`,
			JSON: json.RawMessage(`{"attributes":{"a":{"setBy":"claim","claim":"b.c"}},"properties":{"*":{"setBy":"client"}},` +
				`"more":1}`)},
	}, {
		name:  "put settings",
		reply: reply{status: 200, header: map[string]string{"ETag": `"4"`}},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.PutSettings(ctx, client.ProjectSettings{
				Attributes: map[string]client.AttributeRule{"a": {SetBy: "service"}},
				Properties: map[string]client.PropertyRule{"p": {SetBy: "claim", Claim: "b.c"}},
			}, `"3"`)
		},
		line:   "PUT /demo/matchmaking/api/v1/settings",
		header: map[string]string{"If-Match": `"3"`},
		body:   `{"attributes":{"a":{"setBy":"service"}},"properties":{"p":{"setBy":"claim","claim":"b.c"}}}`,
		want:   `"4"`,
	}, {
		name: "history of settings",
		reply: reply{status: 200,
			body: `{"changes":[{"etag":"\"3\"","changed":"2030-01-02T03:04:05.006Z","by":"olga","settings":{}}]}`},
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.SettingsHistory(ctx) },
		line: "GET /demo/matchmaking/api/v1/settings/history",
		want: []client.SettingsChange{{ETag: `"3"`, Changed: time.Date(2030, 1, 2, 3, 4, 5, 6e6, time.UTC), By: "olga",
			Settings: json.RawMessage(`{}`)}},
	}, {
		name:  "delete config",
		reply: reply{status: 204},
		call:  func(ctx context.Context, c *client.Client) (any, error) { return nil, c.DeleteConfig(ctx, "ranked") },
		line:  "DELETE /demo/matchmaking/api/v1/configs/ranked",
	}, {
		name:  "put function",
		reply: reply{status: 200},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return nil, c.PutFunction(ctx, "duel", "main one", strings.NewReader("archive"))
		},
		line:   "PUT /demo/matchmaking/api/v1/functions/duel?implementation=main+one",
		header: map[string]string{"Content-Type": "application/octet-stream", "Content-Length": "7"},
		body:   "archive",
	}, {
		name: "list functions",
		reply: reply{status: 200,
			body: `{"functions":[{"name":"duel","md5Hash":"ab","status":{"state":"Running","instances":[{"state":"Waiting","name":"duel-1"}]}}]}`},
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.ListFunctions(ctx) },
		line: "GET /demo/matchmaking/api/v1/functions",
		want: []client.Function{{Name: "duel", MD5: "ab", Status: client.FunctionStatus{
			State: client.Running, Instances: []client.FunctionInstance{{Name: "duel-1", State: "Waiting"}}}}},
	}, {
		name:  "get function",
		reply: reply{status: 200, body: `{"name":"duel"}`},
		call:  func(ctx context.Context, c *client.Client) (any, error) { return c.GetFunction(ctx, "duel") },
		line:  "GET /demo/matchmaking/api/v1/functions/duel",
		want:  &client.Function{Name: "duel"},
	}, {
		name:  "function log",
		reply: reply{status: 200, body: `{"logs":{"duel-1":"a\nb"}}`},
		call:  func(ctx context.Context, c *client.Client) (any, error) { return c.GetFunctionLog(ctx, "duel", 0) },
		line:  "GET /demo/matchmaking/api/v1/functions/duel/log",
		want:  map[string]string{"duel-1": "a\nb"},
	}, {
		name:  "function log of a minute",
		reply: reply{status: 200, body: `{"logs":{}}`},
		call:  func(ctx context.Context, c *client.Client) (any, error) { return c.GetFunctionLog(ctx, "duel", 60e9) },
		line:  "GET /demo/matchmaking/api/v1/functions/duel/log?seconds=60",
		want:  map[string]string{},
	}, {
		name:  "function log from a position",
		reply: reply{status: 200, body: `{"logs":{}}`, header: map[string]string{"X-Log-Position": "12"}},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			_, next, err := c.GetFunctionLogAfter(ctx, "duel", 0, "7")
			return next, err
		},
		line: "GET /demo/matchmaking/api/v1/functions/duel/log?after=7",
		want: "12",
	}, {
		name:  "delete function",
		reply: reply{status: 204},
		call:  func(ctx context.Context, c *client.Client) (any, error) { return nil, c.DeleteFunction(ctx, "duel") },
		line:  "DELETE /demo/matchmaking/api/v1/functions/duel",
	}, {
		name:  "restart functions",
		reply: reply{status: 200, body: `{"functions":[{"name":"duel","state":"Pending"}]}`},
		call:  func(ctx context.Context, c *client.Client) (any, error) { return c.RestartFunctions(ctx, "duel") },
		line:  "POST /demo/matchmaking/api/v1/functions/actions/restart",
		body:  `{"functions":["duel"]}`,
		want:  []client.FunctionRestart{{Name: "duel", State: client.Pending}},
	}, {
		name: "function versions",
		reply: reply{status: 200,
			body: `{"versions":[{"version":2,"current":true,"md5Hash":"ab","implementation":"duel","size":9,"uploaded":"2026-01-02T03:04:05.000Z"},{"version":1}]}`},
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.GetFunctionVersions(ctx, "duel") },
		line: "GET /demo/matchmaking/api/v1/functions/duel/versions",
		want: []client.FunctionVersion{
			{Version: 2, Current: true, MD5: "ab", Implementation: "duel", Size: 9,
				Uploaded: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, {Version: 1},
		},
	}, {
		name:  "roll back a function",
		reply: reply{status: 200, body: `{"name":"duel","md5Hash":"ab"}`},
		call:  func(ctx context.Context, c *client.Client) (any, error) { return c.RollbackFunction(ctx, "duel", 1) },
		line:  "POST /demo/matchmaking/api/v1/functions/duel/actions/rollback",
		body:  `{"version":1}`,
		want:  &client.Function{Name: "duel", MD5: "ab"},
	}, {
		name:  "let an upload run in the shadow",
		reply: reply{status: 200, body: `{"name":"duel","shadow":{"version":2,"runs":3,"common":1}}`},
		call:  func(ctx context.Context, c *client.Client) (any, error) { return c.ShadowFunction(ctx, "duel", 2) },
		line:  "POST /demo/matchmaking/api/v1/functions/duel/actions/shadow",
		body:  `{"version":2}`,
		want:  &client.Function{Name: "duel", Shadow: &client.FunctionShadow{Version: 2, Runs: 3, Common: 1}},
	}, {
		name:  "promote an upload",
		reply: reply{status: 200, body: `{"name":"duel","upload":2,"returned":{"from":3,"to":2,"failed":4}}`},
		call:  func(ctx context.Context, c *client.Client) (any, error) { return c.PromoteFunction(ctx, "duel", 2) },
		line:  "POST /demo/matchmaking/api/v1/functions/duel/actions/promote",
		body:  `{"version":2}`,
		want:  &client.Function{Name: "duel", Upload: 2, Returned: &client.FunctionReturn{From: 3, To: 2, Failed: 4}},
	}, {
		name:  "let a function go back by itself, or not",
		reply: reply{status: 200, body: `{"name":"duel","noReturn":true,"health":{"runs":1,"milliseconds":{"p50":2}}}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.SetFunctionReturn(ctx, "duel", false)
		},
		line: "POST /demo/matchmaking/api/v1/functions/duel/actions/return",
		body: `{"automatic":false}`,
		want: &client.Function{Name: "duel", NoReturn: true,
			Health: &client.FunctionHealth{Runs: 1, Milliseconds: &client.Quantiles{P50: 2}}},
	}, {
		name:  "upload a function that runs in the shadow",
		reply: reply{status: 200},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return nil, c.UploadFunction(ctx, "duel", client.FunctionUpload{Note: "a b", Shadow: true},
				strings.NewReader("archive"))
		},
		line:   "PUT /demo/matchmaking/api/v1/functions/duel?note=a+b&shadow=true",
		header: map[string]string{"Content-Type": "application/octet-stream"},
		body:   "archive",
	}, {
		name: "read a function's log line by line",
		reply: reply{status: 200, body: `{"logs":{},"lines":[{"time":"2026-01-02T03:04:05Z","upload":2,"config":"c",` +
			`"instance":"i","text":"t"}]}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			lines, _, err := c.GetFunctionLogLines(ctx, "duel", time.Minute, "")
			return lines, err
		},
		line: "GET /demo/matchmaking/api/v1/functions/duel/log?lines=true&seconds=60",
		want: []client.LogLine{{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Upload: 2, Config: "c", Instance: "i",
			Text: "t"}},
	}, {
		name:  "create backfill",
		reply: reply{status: 201, body: `{"Id":"b1"}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateBackfill(ctx, client.BackfillRequest{Connection: "10.0.0.1:7000",
				Attributes: map[string]float64{"room": 2}, Properties: map[string][]byte{"k": {0}}})
		},
		line: "POST /demo/matchmaking/api/v2/backfill",
		body: `{"Connection":"10.0.0.1:7000","attributes":{"room":2},"properties":{"k":"AA=="}}`,
		want: "b1",
	}, {
		name:  "create backfill, id in an object",
		reply: reply{status: 201, body: `{"id":{"id":"b1"}}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateBackfill(ctx, client.BackfillRequest{})
		},
		line: "POST /demo/matchmaking/api/v2/backfill",
		body: `{}`,
		want: "b1",
	}, {
		name: "approve backfill",
		reply: reply{status: 200,
			body: `{"Id":"b1","Created":5,"RecordVersion":2,"Connection":null,"attributes":{"room":1}}`},
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.ApproveBackfill(ctx, "b1") },
		line: "POST /demo/matchmaking/api/v2/backfill/b1/approvals",
		want: &client.BackfillTicket{ID: "b1", Created: 5, RecordVersion: 2, Attributes: map[string]float64{"room": 1}},
	}, {
		name:  "update backfill",
		reply: reply{status: 200},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return nil, c.UpdateBackfill(ctx, client.BackfillTicket{ID: "b1", Created: 5, RecordVersion: 2, Connection: "c"})
		},
		line: "PUT /demo/matchmaking/api/v2/backfill/b1",
		body: `{"Id":"b1","Created":5,"RecordVersion":2,"Connection":"c","attributes":null,"properties":null}`,
	}, {
		name:  "delete backfill",
		reply: reply{status: 204},
		call:  func(ctx context.Context, c *client.Client) (any, error) { return nil, c.DeleteBackfill(ctx, "b1") },
		line:  "DELETE /demo/matchmaking/api/v2/backfill/b1",
	}, {
		name:  "backfill v1",
		reply: reply{status: 200, body: `{"assignedTickets":[{"id":"t1"}],"assignmentProperties":{"a":1},"error":""}`},
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.BackfillV1(ctx, client.BackfillV1Request{Connection: "c", Function: client.FunctionTarget{Name: "duel"}})
		},
		line: "POST /demo/matchmaking/api/v1/backfill",
		body: `{"connection":"c","function":{"name":"duel"}}`,
		want: &client.BackfillV1Result{AssignedTickets: []client.Ticket{{ID: "t1"}},
			AssignmentProperties: client.Object(`{"a":1}`)},
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newService(t, test.reply)
			c, _ := newClient(t, s)
			got, err := test.call(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("the call returned\n%+v, want\n%+v", got, test.want)
			}
			heard := s.requests()
			if len(heard) != 1 || heard[0].Line != test.line {
				t.Fatalf("the service heard %+v, want one %s", heard, test.line)
			}
			if got := heard[0].Header.Get("Authorization"); got != "Bearer the-token" {
				t.Errorf("Authorization: %q", got)
			}
			for name, want := range test.header {
				if got := heard[0].Header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if heard[0].Header.Get("Content-Type") == "application/octet-stream" {
				if heard[0].Body != test.body {
					t.Errorf("body %q, want %q", heard[0].Body, test.body)
				}
			} else if got := asJSON(t, heard[0].Body); !reflect.DeepEqual(got, asJSON(t, test.body)) {
				t.Errorf("body %s, want %s", heard[0].Body, test.body)
			}
		})
	}
}
