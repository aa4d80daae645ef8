package config

import (
	"github.com/go-json-experiment/json/jsontext"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/definition"
)

// badConfigID is a result code, like the codes of package definition.
const badConfigID = "badConfigId"

// read makes the record of a config out of its document. The error is a *definition.FieldErrors with all that is wrong.
func read(id string, text jsontext.Value, l definition.Limits) (*pb.Config, *definition.HostingKeys, error) {
	r := definition.NewReader(text, l)
	if reason := idProblem(id); reason != "" {
		r.Add(badConfigID, "configId", "%s", reason)
	}
	c, keys := r.Config()
	c.Id = id
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	return c, keys, nil
}
