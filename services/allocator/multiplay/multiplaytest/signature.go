package multiplaytest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Scope is what a signature of Clanforge's callers is made for.
const Scope = "eu-west-1/cf/aws4_request"

// Verify verifies a request's AWS Signature Version 4, in the steps of AWS's documentation for verifiers: the canonical
// request, the string to sign, the key.
func Verify(r *http.Request, body []byte, access, secret string, now time.Time) error {
	return verify(r, body, access, secret, Scope, now)
}

func verify(r *http.Request, body []byte, access, secret, scope string, now time.Time) error {
	words, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return errors.New("no signature")
	}
	parts := map[string]string{}
	for word := range strings.SplitSeq(words, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(word), "=")
		parts[name] = value
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || now.Sub(at).Abs() > 15*time.Minute {
		return errors.New("the date is missing or too far off")
	}
	day := at.Format("20060102")
	if parts["Credential"] != access+"/"+day+"/"+scope {
		return errors.New("another key or scope")
	}
	signed := strings.Split(parts["SignedHeaders"], ";")
	if !slices.IsSorted(signed) || !slices.Contains(signed, "host") || !slices.Contains(signed, "x-amz-date") {
		return errors.New("host and date must be signed, and headers be sorted")
	}
	var headers strings.Builder
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.Join(strings.Fields(value), " "))
	}
	path := r.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	canonical := strings.Join(
		[]string{
			r.Method, encodePath(path), canonicalQuery(r.URL.RawQuery), headers.String(), parts["SignedHeaders"], sum(body),
		},
		"\n",
	)
	toSign := strings.Join(
		[]string{"AWS4-HMAC-SHA256", at.Format("20060102T150405Z"), day + "/" + scope, sum([]byte(canonical))}, "\n",
	)
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(day+"/"+scope, "/") {
		key = keyed(key, part)
	}
	if !hmac.Equal([]byte(hex.EncodeToString(keyed(key, toSign))), []byte(parts["Signature"])) {
		return errors.New("the signature does not match")
	}
	return nil
}

func keyed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func sum(body []byte) string {
	s := sha256.Sum256(body)
	return hex.EncodeToString(s[:])
}

// canonicalQuery: parameters encoded, sorted by name, then by value.
func canonicalQuery(raw string) string {
	var all []string
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		all = append(all, encode(unescape(name))+"="+encode(unescape(value)))
	}
	slices.Sort(all)
	return strings.Join(all, "&")
}

func unescape(text string) string {
	plain, err := url.QueryUnescape(text)
	if err != nil {
		return text
	}
	return plain
}

// encodePath encodes each segment of a path that is encoded already: for all services but S3 it is done twice.
func encodePath(path string) string {
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		parts = append(parts, encode(part))
	}
	return strings.Join(parts, "/")
}

// encode leaves letters, digits, '-', '_', '.' and '~'.
func encode(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
