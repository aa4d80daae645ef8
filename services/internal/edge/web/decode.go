package web

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math"
	"math/big"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
)

// maxDepth is how deep objects and arrays may nest. The deepest shape of the contract, a config's filters, needs 7.
const maxDepth = 32

// maxDocumentDepth is the same for documents that ReadJSON reads: a config's settings may be 32 deep inside it.
const maxDocumentDepth = 40

// jsonOptions match member names without regard to case ("max_players" is still not "maxPlayers") and are strict
// otherwise: package json refuses duplicate members, invalid UTF-8 and trailing data.
var jsonOptions = json.JoinOptions(
	json.MatchCaseInsensitiveNames(true),
	jsonv1.MatchCaseSensitiveDelimiter(true),
	json.RejectUnknownMembers(true),
)

// carefulOptions are jsonOptions that also look at each value for what the types cannot refuse, and read integers in
// any notation. They cost time, so bodies that show no need of them are spared (see suspicious).
var carefulOptions = json.JoinOptions(jsonOptions, json.WithUnmarshalers(json.UnmarshalFromFunc(inspect)))

// nullError is a null where the Go type has no value for it.
type nullError struct{ goType reflect.Type }

func (nullError) Error() string { return "null" }

// Decode reads the request's JSON body into dst, a pointer to a struct.
//
// Names of struct members match without regard to case, keys of maps are kept as they are. Refused are: another content
// type (Unsupported), a body over the limit (TooLarge), and, as Invalid with the member's path and the reason: no body,
// anything that is not exactly one JSON value in UTF-8, nesting over 32, members that are unknown or given twice (by
// any case), values of another type or out of range. A null means "not given" for members that are strings, objects,
// arrays and pointers; for numbers, booleans and Base64, whose zero is a value, and for elements of arrays it is
// refused. Integers may be written as 1.0 and 1e0. Byte slices are padded Base64 in its canonical form: an answer has
// them exactly as they were sent.
func Decode(c echo.Context, dst any) error {
	text, err := readBody(c.Request())
	if err != nil {
		return err
	}
	return decode(text, dst)
}

func decode(text []byte, dst any) error {
	switch trimmed := bytes.TrimLeft(text, " \t\r\n"); {
	case len(trimmed) == 0:
		return problem.New(problem.Invalid, "the body is empty: a JSON value is expected")
	case trimmed[0] == 'n':
		return problem.New(problem.Invalid, "the body: an object is expected, got null")
	}
	if TooDeep(text, maxDepth) {
		return problem.New(problem.Invalid, "the body: objects and arrays nest deeper than %d", maxDepth)
	}
	rules := jsonOptions
	if suspicious(text) {
		rules = carefulOptions
	}
	err := json.Unmarshal(text, dst, rules)
	if isNumberForInteger(err) {
		reflect.ValueOf(dst).Elem().SetZero()
		err = json.Unmarshal(text, dst, carefulOptions)
	}
	if err != nil {
		return explain(err, text)
	}
	return nil
}

// suspicious reports whether a body may have a null, or Base64 that is not canonical. Escapes may hide the latter.
func suspicious(text []byte) bool {
	if bytes.Contains(text, []byte("null")) || bytes.IndexByte(text, '\\') >= 0 {
		return true
	}
	for rest := text; ; {
		end := bytes.Index(rest, []byte(`="`))
		if end < 0 {
			return false
		}
		padding := 1
		if end > 0 && rest[end-1] == '=' {
			padding = 2
		}
		if last := end - padding; last >= 0 && hasSpareBits(rest[last], padding) {
			return true
		}
		rest = rest[end+2:]
	}
}

// hasSpareBits reports whether the last character of padded Base64 has bits that no byte gets. With 1 padding character
// its 2 lowest bits are spare, with 2 the 4 lowest.
func hasSpareBits(last byte, padding int) bool {
	bits := strings.IndexByte(base64Alphabet, last)
	return bits > 0 && bits&(1<<(2*padding)-1) != 0
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// isNumberForInteger reports whether a number that is not written as an integer stands for one.
func isNumberForInteger(err error) bool {
	bad, ok := errors.AsType[*json.SemanticError](err)
	return ok && bad.JSONKind == jsontext.KindNumber && bad.GoType != nil && isInteger(bad.GoType.Kind())
}

// checkContentType checks the content type. Parameters are allowed; the only charset JSON has is UTF-8. Compressed
// bodies are not read: how long they are shows too late.
func checkContentType(header http.Header) error {
	if encoding := header.Get(echo.HeaderContentEncoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return problem.New(problem.Unsupported, "Content-Encoding: bodies are read as they are, without compression")
	}
	given := header.Get(echo.HeaderContentType)
	if given == echo.MIMEApplicationJSON {
		return nil
	}
	if given == "" {
		return problem.New(problem.Unsupported, "Content-Type is missing: application/json is expected")
	}
	media, params, err := mime.ParseMediaType(given)
	if err != nil || media != echo.MIMEApplicationJSON {
		return problem.New(problem.Unsupported, "Content-Type: application/json is expected")
	}
	charset, ok := params["charset"]
	if ok && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "utf8") {
		return problem.New(problem.Unsupported, "Content-Type: JSON is read as UTF-8 only")
	}
	return nil
}

// readBody checks the content type, and reads all of the body, in one piece when its length is declared.
func readBody(req *http.Request) ([]byte, error) {
	if err := checkContentType(req.Header); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if declared := req.ContentLength; 0 <= declared && declared < BodyLimit {
		text.Grow(int(declared) + bytes.MinRead) // more, so that the end is seen without growing
	}
	_, err := text.ReadFrom(req.Body)
	if _, ours := errors.AsType[*problem.Error](err); ours {
		return nil, err
	}
	if err != nil {
		return nil, problem.Wrap(problem.Invalid, err, "the body broke off")
	}
	return text.Bytes(), nil
}

// TooDeep reports whether the values of a JSON text nest deeper than most. Most bodies have fewer brackets than the
// limit, which two fast scans tell.
func TooDeep(text []byte, most int) bool {
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) <= most {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			quoted = !quoted
		case quoted && b == '\\':
			i++
		case quoted:
		case b == '{' || b == '[':
			if depth++; depth > most {
				return true
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return false
}

// inspect is asked about every value before it is read; errors.ErrUnsupported lets the value pass.
func inspect(dec *jsontext.Decoder, v any) error {
	value := reflect.ValueOf(v).Elem()
	switch kind := dec.PeekKind(); {
	case kind == jsontext.KindNull:
		return refuseNull(dec, value.Type())
	case kind == jsontext.KindNumber && isInteger(value.Kind()):
		return readInteger(dec, value)
	case kind == jsontext.KindString && value.Kind() == reflect.Slice && isBytes(value.Type()):
		return readBytes(dec, value)
	}
	return errors.ErrUnsupported
}

func refuseNull(dec *jsontext.Decoder, t reflect.Type) error {
	parent, _ := dec.StackIndex(dec.StackDepth())
	isValue := isInteger(t.Kind())
	switch t.Kind() {
	case reflect.Bool, reflect.Float32, reflect.Float64:
		isValue = true
	case reflect.Slice:
		isValue = isBytes(t)
	}
	if isValue || parent == jsontext.KindBeginArray && t.Kind() != reflect.Interface {
		return nullError{t}
	}
	return errors.ErrUnsupported
}

func isInteger(kind reflect.Kind) bool {
	switch kind {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	}
	return false
}

func readInteger(dec *jsontext.Decoder, into reflect.Value) error {
	number, err := dec.ReadToken()
	if err != nil {
		return err
	}
	n, err := ParseInteger(number.String())
	switch {
	case err != nil:
		return problem.New(problem.Invalid, "%s", err)
	case into.CanInt() && !into.OverflowInt(n):
		into.SetInt(n)
	case into.CanUint() && n >= 0 && !into.OverflowUint(uint64(n)):
		into.SetUint(uint64(n))
	default:
		return problem.New(problem.Invalid, "%s", ErrRange)
	}
	return nil
}

// readBytes reads Base64. What is not canonical has other characters in the answer than the sender wrote.
func readBytes(dec *jsontext.Decoder, into reflect.Value) error {
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	text := token.String()
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return problem.New(problem.Invalid, notBase64)
	}
	if _, err := base64.StdEncoding.Strict().DecodeString(text); err != nil {
		return problem.New(problem.Invalid,
			"Base64 that is not canonical: the last character before the padding has bits that belong to no byte, and must be 0")
	}
	into.SetBytes(plain)
	return nil
}

// The reasons why a JSON number is not read as an integer of 64 bits.
var (
	ErrFraction = errors.New("an integer is expected, got a fraction")
	ErrRange    = errors.New("the number is out of range")
	errLong     = errors.New("the number is too long")
)

// longestNumber bounds exact arithmetic, in characters: no library writes an integer with more.
const longestNumber = 400

// ParseInteger reads a JSON number without a fraction, exactly: 3, 3.0 and 30e-1 are 3. Libraries that know one kind of
// number write integers as any of them.
func ParseInteger(number string) (int64, error) {
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return n, nil
	}
	near, err := strconv.ParseFloat(number, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	switch {
	case err != nil || math.Abs(near) > 1<<63:
		return 0, ErrRange
	case len(number) > longestNumber:
		return 0, errLong
	case strings.Trim(mantissa, "-0.") == "":
		return 0, nil // whatever the exponent
	case math.Abs(near) < 1:
		return 0, ErrFraction
	}
	exact, ok := new(big.Rat).SetString(number) // the exponent is small now
	switch {
	case ok && !exact.IsInt():
		return 0, ErrFraction
	case !ok || !exact.Num().IsInt64():
		return 0, ErrRange
	}
	return exact.Num().Int64(), nil
}
