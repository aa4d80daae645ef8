package estimate

// Wait is what is known of a class, nil for nothing.
func (b *Book) Wait(c Class) *Wait { return b.waits[c] }
