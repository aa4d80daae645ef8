package multiplaytest

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The examples come from AWS's documentation and its test suite for Signature Version 4 (get-vanilla), so that our
// verifier and the signer that it verifies do not merely share a mistake.
func TestVerifyKnowsTheExamplesOfAWS(t *testing.T) {
	const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	now := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	request := func(url string, header http.Header, signed, signature, scope string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header
		r.Header.Set("X-Amz-Date", "20150830T123600Z")
		r.Header.Set(
			"Authorization",
			"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/"+scope+", SignedHeaders="+signed+", Signature="+signature,
		)
		return r
	}
	vanilla := request("https://example.amazonaws.com/", http.Header{}, "host;x-amz-date",
		"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31", "us-east-1/service/aws4_request")
	if err := verify(vanilla, nil, "AKIDEXAMPLE", secret, "us-east-1/service/aws4_request", now); err != nil {
		t.Errorf("get-vanilla: %v", err)
	}
	users := request("https://iam.amazonaws.com/?Version=2010-05-08&Action=ListUsers",
		http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}}, "content-type;host;x-amz-date",
		"5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7", "us-east-1/iam/aws4_request")
	if err := verify(users, nil, "AKIDEXAMPLE", secret, "us-east-1/iam/aws4_request", now); err != nil {
		t.Errorf("ListUsers: %v", err)
	}
	for what, err := range map[string]error{
		"a body": verify(vanilla, []byte("x"), "AKIDEXAMPLE", secret, "us-east-1/service/aws4_request", now),
		"another key": verify(
			vanilla, nil, "AKIDEXAMPLE", strings.ToLower(secret), "us-east-1/service/aws4_request", now,
		),
		"another account": verify(vanilla, nil, "AKIDEXAMPLF", secret, "us-east-1/service/aws4_request", now),
		"another scope":   Verify(vanilla, nil, "AKIDEXAMPLE", secret, now),
		"later":           verify(vanilla, nil, "AKIDEXAMPLE", secret, "us-east-1/service/aws4_request", now.Add(time.Hour)),
	} {
		if err == nil {
			t.Errorf("%s: believed", what)
		}
	}
}
