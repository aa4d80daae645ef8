package allocator

import (
	"context"
	"sync"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
)

// maxBatch is how many matches one step is for at most: no match waits long for others.
const maxBatch = 64

// batch gathers what matches of a project ask at about the same time, so that one step answers all of them. A lone
// question is asked at once. While that is answered the next ones gather.
type batch[Q, A any] struct {
	// ask answers questions in order. After an error it has answered those whose answers are there and known.
	ask   func(ctx context.Context, project string, all []Q) ([]A, error)
	known func(A) bool
	// time is how long that may take.
	time time.Duration

	mu       sync.Mutex
	projects map[string][]*asked[Q, A] // those that gather; a project is in it while a step is under way
}

// asked is a question that waits for its answer.
type asked[Q, A any] struct {
	question Q
	answer   A
	err      error
	done     chan struct{}
}

func newBatch[Q, A any](
	time time.Duration, ask func(ctx context.Context, project string, all []Q) ([]A, error), known func(A) bool,
) *batch[Q, A] {
	return &batch[Q, A]{ask: ask, known: known, time: time, projects: map[string][]*asked[Q, A]{}}
}

// do asks a question and waits for its answer. When ctx ends first, the question may or may not have been asked.
func (b *batch[Q, A]) do(ctx context.Context, project string, question Q) (A, error) {
	a := &asked[Q, A]{question: question, done: make(chan struct{})}
	b.mu.Lock()
	waiting, busy := b.projects[project]
	if busy {
		b.projects[project] = append(waiting, a)
	} else {
		b.projects[project] = nil
	}
	b.mu.Unlock()
	if !busy {
		b.step(context.WithoutCancel(ctx), project, []*asked[Q, A]{a})
	}
	select {
	case <-a.done:
		return a.answer, a.err
	case <-ctx.Done():
		var none A
		return none, context.Cause(ctx)
	}
}

// alone asks some questions, each alone and all at the same time.
func (b *batch[Q, A]) alone(ctx context.Context, project string, some []*asked[Q, A]) {
	ctx, cancel := context.WithTimeout(ctx, b.time)
	defer cancel()
	var all sync.WaitGroup
	for _, a := range some {
		all.Go(func() {
			answers, err := b.ask(ctx, project, []Q{a.question})
			if a.err = err; err == nil {
				a.answer = answers[0]
			}
			close(a.done)
		})
	}
	all.Wait()
}

// step asks some questions. Those that gathered meanwhile are asked by another goroutine, so that this one returns as
// soon as its own are answered.
func (b *batch[Q, A]) step(ctx context.Context, project string, some []*asked[Q, A]) {
	questions := make([]Q, len(some))
	for i, a := range some {
		questions[i] = a.question
	}
	limited, cancel := context.WithTimeout(ctx, b.time)
	defer cancel()
	answers, err := b.ask(limited, project, questions)
	var rest []*asked[Q, A]
	for i, a := range some {
		if i >= len(answers) || !b.known(answers[i]) {
			rest = append(rest, a)
			continue
		}
		a.answer = answers[i]
		close(a.done)
	}
	if len(some) > 1 && problem.KindOf(err) != problem.Unavailable {
		b.alone(ctx, project, rest) // it may be another one's fault
	} else {
		for _, a := range rest {
			a.err = err
			close(a.done)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	next := b.projects[project]
	if len(next) == 0 {
		delete(b.projects, project)
		return
	}
	n := min(len(next), maxBatch)
	b.projects[project] = next[n:]
	go b.step(ctx, project, next[:n:n])
}
