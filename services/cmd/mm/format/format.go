// Package format writes values as the cells of mm's tables.
package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"matchmaker.dev/pkg/client"
)

// Number rounds a number to four digits, or to an integer if that has more.
func Number(f float64) string {
	if a := math.Abs(f); a >= 1000 && a < 1e15 {
		return strconv.FormatFloat(math.Round(f), 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// MB writes a number of bytes.
func MB(n int) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// Plural writes how many there are of something.
func Plural[N int | int64 | uint64](n N, of string) string {
	switch {
	case n == 1:
		return "1 " + of
	case strings.HasSuffix(of, "ch"):
		of += "e"
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// JSON puts JSON on one line.
func JSON(text []byte) string {
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return string(text)
	}
	return line.String()
}

// Reason returns the cells of a reason: its text, and the candidates if they are known.
func Reason(r client.Reason) []any {
	if r.Candidates == nil {
		return []any{r.Reason, ""}
	}
	return []any{r.Reason, *r.Candidates}
}
