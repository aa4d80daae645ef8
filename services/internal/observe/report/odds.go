package report

import (
	"cmp"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/rating"
)

// oddsBytes is about how many bytes the odds of a rating take when they are stored, beside its name.
const oddsBytes = 32 + rating.Buckets*24

// Odds compare the odds of a rating with what came.
type Odds struct {
	Rating string
	rating.Judged
}

// Message is how odds are stored.
func (o *Odds) Message() *pb.RatingOdds {
	m := &pb.RatingOdds{Rating: o.Rating, Loss: o.Loss, Squares: o.Squares}
	for i, b := range o.Buckets {
		if b.Pairs > 0 {
			m.Buckets, m.Pairs = append(m.Buckets, int32(i)), append(m.Pairs, int64(b.Pairs))
			m.Odds, m.Won = append(m.Odds, b.Odds), append(m.Won, b.Won)
		}
	}
	return m
}

// judgedOf is what was stored, without what is damaged.
func judgedOf(m *pb.RatingOdds) *rating.Judged {
	j := &rating.Judged{Loss: m.GetLoss(), Squares: m.GetSquares()}
	n := min(len(m.GetPairs()), len(m.GetOdds()), len(m.GetWon()))
	for i, bucket := range m.GetBuckets() {
		if i < n && bucket >= 0 && bucket < rating.Buckets && m.GetPairs()[i] > 0 {
			j.Buckets[bucket] = rating.Bucket{Pairs: float64(m.GetPairs()[i]), Odds: m.GetOdds()[i], Won: m.GetWon()[i]}
		}
	}
	return j
}

// AddOutcome adds the outcome of a match, which may be older, from its event.
func (b *Book) AddOutcome(e *pb.Event) {
	o := e.GetOutcome()
	key := Key{Config: e.GetConfig(), Revision: o.GetRevision(), Function: o.GetFunction(), Upload: o.GetUpload(),
		Queue: e.GetQueue(), Region: o.GetRegion(), Party: min(int(o.GetParty()), LargestParty), Canary: o.GetCanary()}
	s := b.find(key)
	if s == nil {
		b.leftOut++
		return
	}
	s.results++
	s.resultPlayers += o.GetPlayers()
	s.left += o.GetLeft()
	if !s.addOdds(o.GetOdds(), func(bytes int) bool { return b.use(key.Config, bytes) }) {
		b.leftOut++
	}
}

// addOdds adds odds. room is asked for ratings that are new, by their bytes; it is false when one had none.
func (s *series) addOdds(all []*pb.RatingOdds, room func(bytes int) bool) (fits bool) {
	fits = true
	for _, one := range all {
		at, found := slices.BinarySearchFunc(s.odds, one.GetRating(),
			func(o Odds, name string) int { return cmp.Compare(o.Rating, name) })
		switch {
		case found:
		case room(oddsBytes + len(one.GetRating())):
			s.odds = slices.Insert(s.odds, at, Odds{Rating: one.GetRating()})
		default:
			fits = false
			continue
		}
		s.odds[at].Add(judgedOf(one))
	}
	return fits
}
