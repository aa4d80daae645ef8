package block_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

func TestRequestOfChangesIsReadAsItWasWritten(t *testing.T) {
	for _, base := range []block.Base{{Number: 7}, {Number: 7, Continues: true, First: 100}} {
		var b block.RequestBuilder
		b.Start(block.Meta{Now: 5000, Tickets: 2})
		copy(b.Created(), []float64{1000, 2000})
		gone, ended := []uint32{3, 99}, []uint32{4, 5}
		if !base.Continues {
			gone = nil
		}
		b.Base(base, gone)
		b.Ended(ended)
		raw, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		r, err := block.ParseRequest(raw)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(); err != nil {
			t.Error(err)
		}
		if *r.Base != base || r.First() != base.First || !slices.Equal(r.Gone, gone) || !slices.Equal(r.Ended, ended) {
			t.Errorf("%+v, %d, %v, %v", r.Base, r.First(), r.Gone, r.Ended)
		}
		var size block.RequestSize
		size.Meta(r.Meta, 0)
		size.Base(len(gone), len(ended))
		if n := size.Bytes(); n < int64(len(raw)) || n > int64(len(raw))+64 {
			t.Errorf("%d bytes were computed for %d", n, len(raw))
		}
	}
}

func TestBaseThatCannotBeIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		base block.Base
		gone []uint32
		want string
	}{
		"begins with tickets":        {block.Base{First: 5}, nil, "a base begins with tickets that it had before"},
		"begins and some are gone":   {block.Base{}, []uint32{0}, "a base begins with tickets that it had before"},
		"a new one is gone":          {block.Base{Continues: true, First: 5}, []uint32{5}, "number 5 of 5"},
		"gone in another order":      {block.Base{Continues: true, First: 5}, []uint32{2, 1}, "number 1 after 2"},
		"more tickets than it names": {block.Base{Continues: true}, []uint32{math.MaxUint32}, "number 4294967295 of 0"},
	} {
		t.Run(name, func(t *testing.T) {
			var b block.RequestBuilder
			b.Start(block.Meta{})
			b.Base(c.base, c.gone)
			raw, err := b.Finish()
			if err != nil {
				t.Fatal(err)
			}
			r, err := block.ParseRequest(raw)
			if err == nil {
				err = r.Check()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}
