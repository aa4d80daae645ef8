package invocation

// What an Invoker keeps from run to run at most: bytes in all, about, and messages of proposals with extras.
const (
	maxKept     = 32 << 20
	maxMessages = 4096
)

// keep notes how much memory a run took, about, whose request has so many bytes.
func (inv *Invoker) keep(r *Run, request int) {
	pools := len(r.Request.GetPools())
	perTicket := 64 + 4*pools        // its place in the columns, and its number in each pool
	perSlot := 2 * (4 + (pools+9)/8) // of the index, which has at most one hole for each ticket
	inv.kept = max(inv.kept, request+perTicket*inv.selection.N()+perSlot*r.Index.Len())
}

// Release gives memory back that a rare large run took. The last part must have been sent: it may be in that memory.
func (inv *Invoker) Release() {
	if inv.kept > maxKept {
		*inv = Invoker{}
		return
	}
	p := &inv.parts
	if len(p.extended) > maxMessages {
		p.extended = nil
	}
	for _, m := range p.extended {
		// These are views of the answer, or as large as the function likes.
		m.AssignmentProperties, m.MatchProperties, m.TicketProperties, m.Filling, m.Measures = nil, nil, nil, nil, nil
	}
	inv.backfills.list = nil
}
