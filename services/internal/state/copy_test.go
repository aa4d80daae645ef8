package state

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// full is a result with every field that there is, and one that only a later version knows.
func fullAssignment(t *testing.T) *pb.Assignment {
	t.Helper()
	a := new(pb.Assignment)
	m := a.ProtoReflect()
	for i := range m.Descriptor().Fields().Len() {
		field := m.Descriptor().Fields().Get(i)
		value := map[protoreflect.Kind]protoreflect.Value{
			protoreflect.StringKind: protoreflect.ValueOfString(string(field.Name())),
			protoreflect.BytesKind:  protoreflect.ValueOfBytes([]byte(field.Name())),
			protoreflect.BoolKind:   protoreflect.ValueOfBool(true),
			protoreflect.Int64Kind:  protoreflect.ValueOfInt64(7),
			protoreflect.Uint64Kind: protoreflect.ValueOfUint64(7),
		}[field.Kind()]
		switch {
		case !value.IsValid():
			t.Fatalf("%s is of another kind: add it", field.Name())
		case field.IsList():
			m.Mutable(field).List().Append(value)
		default:
			m.Set(field, value)
		}
	}
	m.SetUnknown(protoreflect.RawFields{0xf8, 0x3f, 1}) // field 1023
	return a
}

// TestCopiesOfResultsAreWhole: a field that is new is not lost where results are made out of others.
func TestCopiesOfResultsAreWhole(t *testing.T) {
	a := fullAssignment(t)
	stored := outcome{id: "m", shared: new(pb.Assignment)}.refer(a)
	want := proto.CloneOf(a)
	want.Outcome = "m"
	if !proto.Equal(stored, want) {
		t.Errorf("refer: got %v, want %v", stored, want)
	}
	m := &pb.Match{Proposal: &pb.Proposal{Teams: []*pb.Team{{Name: "red", Tickets: []string{"t"}}}}}
	want = proto.CloneOf(a)
	want.Team, want.Roles = "red", nil
	if got := seated(m, []string{"t"}, []*pb.Assignment{a})[0]; !proto.Equal(got, want) {
		t.Errorf("seated: got %v, want %v", got, want)
	}
	if a.GetOutcome() != "outcome" || a.GetTeam() != "team" {
		t.Errorf("the result itself was changed: %v", a)
	}
}
