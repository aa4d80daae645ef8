// Package message builds error messages without package fmt. With the packages that it needs (os, reflect), fmt makes a
// small match function half as large again.
package message

import (
	"errors"
	"strconv"
)

// longest bounds a quoted text, in bytes.
const longest = 60

// Errorf returns an error with the text of Sprintf.
func Errorf(format string, args ...any) error {
	return errors.New(Sprintf(format, args...))
}

// Sprintf replaces the verbs of format by args. %q quotes a string or bytes, and cuts them if they are long. Any other
// verb prints a string, an error, a Stringer, a boolean, a number, nil, or a list of ticket numbers, float64 or
// strings. There are no flags.
func Sprintf(format string, args ...any) string {
	var out []byte
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) || len(args) == 0 {
			out = append(out, format[i])
			continue
		}
		i++
		out = appendArg(out, format[i] == 'q', args[0])
		args = args[1:]
	}
	return string(out)
}

// Sprint returns args separated by spaces, as Sprintf prints them.
func Sprint(args ...any) string {
	var out []byte
	for i, arg := range args {
		if i > 0 {
			out = append(out, ' ')
		}
		out = appendArg(out, false, arg)
	}
	return string(out)
}

func appendArg(out []byte, quote bool, arg any) []byte {
	var text string
	switch arg := arg.(type) {
	case string:
		text = arg
	case []byte:
		text = string(arg)
	case error:
		text = arg.Error()
	case bool:
		return strconv.AppendBool(out, arg)
	case nil:
		text = "nil"
	case int:
		return strconv.AppendInt(out, int64(arg), 10)
	case int8:
		return strconv.AppendInt(out, int64(arg), 10)
	case int16:
		return strconv.AppendInt(out, int64(arg), 10)
	case int32:
		return strconv.AppendInt(out, int64(arg), 10)
	case int64:
		return strconv.AppendInt(out, arg, 10)
	case uint:
		return strconv.AppendUint(out, uint64(arg), 10)
	case uint8:
		return strconv.AppendUint(out, uint64(arg), 10)
	case uint16:
		return strconv.AppendUint(out, uint64(arg), 10)
	case uint32:
		return strconv.AppendUint(out, uint64(arg), 10)
	case uint64:
		return strconv.AppendUint(out, arg, 10)
	case float32:
		return strconv.AppendFloat(out, float64(arg), 'g', -1, 32)
	case float64:
		return strconv.AppendFloat(out, arg, 'g', -1, 64)
	case []uint32:
		return appendAll(out, arg)
	case []float64:
		return appendAll(out, arg)
	case []string:
		return appendAll(out, arg)
	case interface{ String() string }:
		text = arg.String()
	default:
		text = "(?)"
	}
	if !quote {
		return append(out, text...)
	}
	if len(text) > longest {
		return append(strconv.AppendQuote(out, text[:longest]), "..."...)
	}
	return strconv.AppendQuote(out, text)
}

func appendAll[T any](out []byte, list []T) []byte {
	out = append(out, '[')
	for i, one := range list {
		if i > 0 {
			out = append(out, ' ')
		}
		out = appendArg(out, false, one)
	}
	return append(out, ']')
}
