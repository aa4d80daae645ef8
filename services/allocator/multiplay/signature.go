package multiplay

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// scope is what signatures for Clanforge are made for.
const scope = "eu-west-1/cf/aws4_request"

// signer signs requests with AWS Signature Version 4:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
type signer struct{ access, secret, scope string }

// sign signs a request with its body and all its headers. It gives the query its canonical form.
func (s *signer) sign(r *http.Request, body []byte, now time.Time) {
	if port := r.URL.Port(); port == "443" && r.URL.Scheme == "https" || port == "80" && r.URL.Scheme == "http" {
		r.Host = strings.TrimSuffix(r.URL.Host, ":"+port) // the verifier does not see the scheme's own port
	}
	at := now.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", at)
	r.URL.RawQuery = canonicalQuery(r.URL.Query())
	headers, names := canonicalHeaders(r)
	path := "/" + strings.TrimPrefix(r.URL.EscapedPath(), "/")
	canonical := []string{
		r.Method, strings.ReplaceAll(encode(path), "%2F", "/"), r.URL.RawQuery, headers, names, sum(body),
	}
	const algorithm = "AWS4-HMAC-SHA256"
	scope := at[:8] + "/" + s.scope
	key := []byte("AWS4" + s.secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = keyed(key, part)
	}
	signed := keyed(key, strings.Join([]string{algorithm, at, scope, sum([]byte(strings.Join(canonical, "\n")))}, "\n"))
	r.Header.Set("Authorization", fmt.Sprintf(
		"%s Credential=%s/%s, SignedHeaders=%s, Signature=%x", algorithm, s.access, scope, names, signed,
	))
}

// canonicalHeaders returns the headers in their canonical form, and their names.
func canonicalHeaders(r *http.Request) (headers, names string) {
	all := map[string]string{"host": r.Host}
	for name, values := range r.Header {
		var trimmed []string
		for _, value := range values {
			trimmed = append(trimmed, strings.Join(strings.Fields(value), " "))
		}
		all[strings.ToLower(name)] = strings.Join(trimmed, ",")
	}
	if r.ContentLength > 0 {
		all["content-length"] = fmt.Sprint(r.ContentLength)
	}
	sorted := slices.Sorted(maps.Keys(all))
	for _, name := range sorted {
		headers += name + ":" + all[name] + "\n"
	}
	return headers, strings.Join(sorted, ";")
}

// canonicalQuery sorts parameters by their encoded names, then by their encoded values.
func canonicalQuery(query url.Values) string {
	var all []string
	for name, values := range query {
		for _, value := range values {
			all = append(all, encode(name)+"\x00"+encode(value)) // 0 is encoded, and is before all other bytes
		}
	}
	slices.Sort(all)
	return strings.ReplaceAll(strings.Join(all, "&"), "\x00", "=")
}

// encode leaves letters, digits, '-', '_', '.' and '~'.
func encode(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

func keyed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func sum(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }
