package search

import "slices"

// move exchanges a ticket of team i for one of team j, or for two that have as many players together.
type move struct {
	i, j, x, y int
	second     int // place of the second in team j, which is after y; -1 for one
}

// mostMoved is how many tickets of a team are looked at for two that are exchanged for one. Larger teams have enough
// tickets of the same size.
const mostMoved = 12

// moves calls try for all moves, as long as there is work left. Try charges what it does.
func (b *builder) moves(try func(m move)) {
	for i := range b.teams {
		for j := range b.teams {
			if j == i {
				continue
			}
			for x, t := range b.teams[i] {
				if !b.isMember(t) {
					b.movesOf(move{i: i, j: j, x: x}, b.pool.size(t), try)
				}
			}
		}
	}
}

// movesOf calls try for the moves of a ticket of so many players into a team.
func (b *builder) movesOf(m move, size int, try func(m move)) {
	team := b.teams[m.j]
	offer := func(y, second int) {
		if b.work > 0 {
			m.y, m.second = y, second
			try(m)
		}
	}
	for y, t := range team {
		left := size - b.pool.size(t)
		if left < 0 || b.isMember(t) {
			continue
		}
		if left == 0 {
			if m.j < m.i { // each pair once
				offer(y, -1)
			}
			continue
		}
		for second := y + 1; second < min(len(team), mostMoved); second++ {
			if o := team[second]; b.pool.size(o) == left && !b.isMember(o) {
				offer(y, second)
			}
		}
	}
}

// exchanges makes each move, calls look, and undoes the move, as long as there are trials and work left.
func (b *builder) exchanges(look func(m move)) {
	b.moves(func(m move) {
		if b.trials--; b.trials < 0 {
			return
		}
		b.work -= b.total
		b.swap(m)
		look(m)
		b.swapBack(m)
	})
}

func (b *builder) swap(m move) {
	from, to := b.teams[m.i], b.teams[m.j]
	from[m.x], to[m.y] = to[m.y], from[m.x]
	if m.second >= 0 {
		b.teams[m.i] = append(from, to[m.second])
		b.teams[m.j] = slices.Delete(to, m.second, m.second+1)
	}
}

// swapBack undoes swap.
func (b *builder) swapBack(m move) {
	if m.second >= 0 {
		last := len(b.teams[m.i]) - 1
		b.teams[m.j] = slices.Insert(b.teams[m.j], m.second, b.teams[m.i][last])
		b.teams[m.i] = b.teams[m.i][:last]
	}
	from, to := b.teams[m.i], b.teams[m.j]
	from[m.x], to[m.y] = to[m.y], from[m.x]
}
