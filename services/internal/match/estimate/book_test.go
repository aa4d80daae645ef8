package estimate_test

import (
	"testing"

	"matchmaker.dev/services/internal/match/estimate"
)

// The first ticket of a class is not forgotten before it has waited for a while.
func TestFirstTicketCounts(t *testing.T) {
	book, pools := estimate.NewBook(0, 1), estimate.NewPools(nil)
	book.Enter("a", 1, 10, 10)
	book.Advance(20)
	book.Match([]string{"a"}, 30)
	book.Advance(40)
	if classes := book.Save(pools).GetClasses(); len(classes) != 1 || len(classes[0].GetSeen()[0].GetMatched()) == 0 {
		t.Errorf("what is known is %v, want one match", classes)
	}
	book.Leave([]string{"a"}, 50)
	book.Advance(24 * 3600 * 1000)
	if classes := book.Save(pools).GetClasses(); len(classes) != 0 {
		t.Errorf("after a day %d classes are known", len(classes))
	}
}
