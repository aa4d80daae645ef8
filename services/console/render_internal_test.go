package console

import "testing"

// A number is as short as people read, however large it is.
func TestNumbersAreShort(t *testing.T) {
	for f, want := range map[float64]string{
		1e308: "1e+308", 1e15: "1e+15", -1234567: "−1\u202f234\u202f567", 123456.7: "123\u202f457", 0.00001: "0.0000",
		0.12345: "0.123", 1e15 + 0.5: "1e+15",
	} {
		if got := number(f); got != want {
			t.Errorf("%v is %q, want %q", f, got, want)
		}
	}
}
