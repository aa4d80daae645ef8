package multiplay

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// vector is a request and its signature.
type vector struct {
	method, url    string
	header         http.Header
	body           string
	unsized        bool // the length of the body is not signed
	access, secret string
	at             string
	query, host    string
	names          string
	signature      string
}

func (v vector) check(t *testing.T, scope string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), v.method, v.url, strings.NewReader(v.body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range v.header {
		r.Header[name] = values
	}
	if v.unsized {
		r.ContentLength = -1
	}
	at, err := time.Parse(time.RFC3339, v.at)
	if err != nil {
		t.Fatal(err)
	}
	s := signer{cmp.Or(v.access, "AKIDEXAMPLE"), cmp.Or(v.secret, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), scope}
	s.sign(r, []byte(v.body), at)
	want := []string{
		v.query, v.host, at.UTC().Format("20060102T150405Z"),
		"AWS4-HMAC-SHA256 Credential=" + s.access + "/" + at.UTC().Format("20060102") + "/" + scope +
			", SignedHeaders=" + v.names + ", Signature=" + v.signature,
	}
	got := []string{r.URL.RawQuery, r.Host, r.Header.Get("X-Amz-Date"), r.Header.Get("Authorization")}
	if !slices.Equal(got, want) {
		t.Errorf("%s %s:\n%q, want\n%q", v.method, v.url, got, want)
	}
}

// The requests and signatures come from AWS's documentation (ListUsers, in "Create a signed AWS API request") and from
// its test suite for Signature Version 4, aws-sig-v4-test-suite.
func TestSignaturesOfAWS(t *testing.T) {
	const unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	const form = "application/x-www-form-urlencoded"
	const plain = "host;x-amz-date"
	for name, v := range map[string]vector{
		"get-vanilla": {
			url: "/", names: plain, signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
		},
		"get-unreserved": {
			url: "/" + unreserved, names: plain,
			signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
		},
		"get-vanilla-query-unreserved": {
			url: "/?" + unreserved + "=" + unreserved, query: unreserved + "=" + unreserved, names: plain,
			signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
		},
		"get-vanilla-utf8-query": {
			url: "/?ሴ=bar", query: "%E1%88%B4=bar", names: plain,
			signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04",
		},
		"get-vanilla-query-order-key-case": {
			url: "/?Param2=value2&Param1=value1", query: "Param1=value1&Param2=value2", names: plain,
			signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
		},
		"get-vanilla-query-order-key": {
			url: "/?Param1=value2&Param1=Value1", query: "Param1=Value1&Param1=value2", names: plain,
			signature: "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1",
		},
		"get-vanilla-query-order-value": {
			url: "/?Param1=value2&Param1=value1", query: "Param1=value1&Param1=value2", names: plain,
			signature: "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694",
		},
		"get-header-key-duplicate": {
			url: "/", header: http.Header{"My-Header1": {"value2", "value2", "value1"}}, names: "host;my-header1;x-amz-date",
			signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
		},
		"get-header-value-order": {
			url: "/", header: http.Header{"My-Header1": {"value4", "value1", "value3", "value2"}},
			names:     "host;my-header1;x-amz-date",
			signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
		},
		"get-header-value-trim": {
			url: "/", header: http.Header{"My-Header1": {" value1"}, "My-Header2": {` "a   b   c"`}},
			names:     "host;my-header1;my-header2;x-amz-date",
			signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
		},
		"post-vanilla-query": {
			method: http.MethodPost, url: "/?Param1=value1", query: "Param1=value1", names: plain,
			signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
		},
		"post-x-www-form-urlencoded": {
			method: http.MethodPost, url: "/", header: http.Header{"Content-Type": {form}}, body: "Param1=value1", unsized: true,
			names:     "content-type;host;x-amz-date",
			signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
		},
		"post-x-www-form-urlencoded-parameters": {
			method: http.MethodPost, url: "/", header: http.Header{"Content-Type": {form + "; charset=utf8"}},
			body: "Param1=value1", unsized: true, names: "content-type;host;x-amz-date",
			signature: "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v.method, v.at, v.host = cmp.Or(v.method, http.MethodGet), "2015-08-30T12:36:00Z", "example.amazonaws.com"
			v.url = "https://" + v.host + v.url
			v.check(t, "us-east-1/service/aws4_request")
		})
	}
	vector{
		method: http.MethodGet, url: "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
		header: http.Header{"Content-Type": {form + "; charset=utf-8"}}, at: "2015-08-30T12:36:00Z",
		query: "Action=ListUsers&Version=2010-05-08", host: "iam.amazonaws.com", names: "content-type;host;x-amz-date",
		signature: "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
	}.check(t, "us-east-1/iam/aws4_request")
}

// The signatures were recorded from the signer of aws-sdk-go-v2 v1.47.7.
func TestSignaturesOfTheSDK(t *testing.T) {
	for _, v := range []vector{
		{
			method: "POST",
			url:    "https://api.multiplay.co.uk/cfp/v2/fleet/1f2e3d/server/allocate?regionid=6d1e&profileid=1234567&uuid=0190c1f2-7d6e-7b1a-8a3c-2f4e5d6c7b8a&project_guid=9c1d0b7a",
			header: http.Header{"Content-Type": {"application/json"}, "X-Enable-Payload": {"true"}},
			body:   "{\"allocation\":\"0190c1f2\",\"project\":\"p\"}",
			query:  "profileid=1234567&project_guid=9c1d0b7a&regionid=6d1e&uuid=0190c1f2-7d6e-7b1a-8a3c-2f4e5d6c7b8a",
			host:   "api.multiplay.co.uk", names: "content-length;content-type;host;x-amz-date;x-enable-payload",
			signature: "5b712c1a18ad1ca22dcbd5a37867c127e80af3b198757895efc3fc53651516d3",
		},
		{
			method: "GET",
			url:    "https://api.multiplay.co.uk/cfp/v1/server/allocations?fleetid=1f2e3d&uuid=c&uuid=a&uuid=b&uuid=a",
			header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
			query:  "fleetid=1f2e3d&uuid=a&uuid=a&uuid=b&uuid=c", host: "api.multiplay.co.uk",
			names:     "content-type;host;x-amz-date",
			signature: "fdec451ce4a2c4d254a4f924a7dad119fe342603de9c48820d2adecf722da56b",
		},
		{
			method: "POST", url: "https://api.multiplay.co.uk/cfp/v2/fleet/1f2e3d/server/deallocate?uuid=0190c1f2",
			header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, access: "A", secret: "s",
			at: "2026-01-01T23:59:59Z", query: "uuid=0190c1f2", host: "api.multiplay.co.uk",
			names:     "content-type;host;x-amz-date",
			signature: "8627f959523ccd5aa7e9a3e50c450e5723f31fc53f13fb304f7a4cf904b137fa",
		},
		{
			method: "GET", url: "https://api.example.com/?a%20b=c%2Fd&a%2Bb=%E2%82%AC&x=~-_.&%25=%26",
			query: "%25=%26&a%20b=c%2Fd&a%2Bb=%E2%82%AC&x=~-_.", names: "host;x-amz-date",
			signature: "94dd025e99ec48e76794a2e82c0a503d2496976f8cbd50dc8244c7705578e891",
		},
		{
			method: "GET", url: "https://api.example.com/p?k=a%2Fb&k=a-b&k=a+b&k=&k=%2B",
			query: "k=&k=%2B&k=a%20b&k=a%2Fb&k=a-b", names: "host;x-amz-date",
			signature: "1c266d6df93e7edaaa76c32b22a4ee92b759095fd78da73cdd5478528f887bb8",
		},
		{
			method: "GET", url: "https://api.example.com/p?a-b=1&a=2&a=1&A=3&a%20=4&a.=5",
			query: "A=3&a=1&a=2&a%20=4&a-b=1&a.=5", names: "host;x-amz-date",
			signature: "7ea1d8d5464cdc3edb3d8676a7458fb0b5d51cdf703b87565ea546c78947c4b4",
		},
		{
			method: "GET", url: "https://api.example.com/p?flag&x=1&=y", query: "=y&flag=&x=1", names: "host;x-amz-date",
			signature: "bd81c8849dddb075abc67c5c73e94583ca56a4264160140c8abd1d2fd34d01d3",
		},
		{
			method: "GET", url: "https://api.example.com", names: "host;x-amz-date",
			signature: "8e870224e985ec89a565f26f74fa9002d8ffa1b12fece5a164e0336a3372287d",
		},
		{
			method: "DELETE", url: "https://api.example.com:443/x/", names: "host;x-amz-date",
			signature: "2f265b04c303965253f253724c02523c4f8972b5da94231bcf33017ac0f12d79",
		},
		{
			method: "PUT", url: "http://127.0.0.1:8080/base/x?y=z", body: "0", query: "y=z", host: "127.0.0.1:8080",
			names:     "content-length;host;x-amz-date",
			signature: "28fcdaf13d8dd26f8928c3af1b6f34354e63107e807437170b722a107bc4a0de",
		},
		{
			method: "GET", url: "http://localhost:80/x?y=z", query: "y=z", host: "localhost", names: "host;x-amz-date",
			signature: "104796daccccf02fc4b2b2d730471398d392a3481f7c1931cdde90798113a25f",
		},
		{
			method: "GET", url: "https://api.example.com/a%20b/%E1%88%B4//c%2Fd/~x/..%2F+", names: "host;x-amz-date",
			signature: "4ea6af7529601b38133bfb920cb047d5c7bb876e98584e8709f88e8bf12b6d21",
		},
		{
			method: "POST", url: "https://api.example.com/h",
			header: http.Header{"Accept": {"*/*"}, "X-Empty": {""}, "X-Two": {"  one   and ", "two"}}, body: "ü€\x00\n",
			names:     "accept;content-length;host;x-amz-date;x-empty;x-two",
			signature: "dd7b60389d6221496948de621c217031e6ec82e973f1ecb6578baa35f49e27ab",
		},
		{
			method: "GET", url: "https://api.example.com/zone?q=1", access: "ключ/1", secret: "päss wörd +/=",
			at: "2026-03-01T00:30:00+02:00", query: "q=1", names: "host;x-amz-date",
			signature: "e9527d10c2c79a66b09b5305eeddd51154c38535cd1f2663a5fcef6440ef19fd",
		},
	} {
		v.at, v.host = cmp.Or(v.at, "2026-11-28T10:11:12Z"), cmp.Or(v.host, "api.example.com")
		v.check(t, scope)
	}
}
