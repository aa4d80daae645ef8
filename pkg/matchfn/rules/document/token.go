package document

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// space skips white space, and comments if they are allowed.
func (p *parser) space() error {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case '\n':
			p.line++
			p.at++
			p.start = p.at
		case ' ', '\t', '\r':
			p.at++
		case '/':
			if !p.relaxed {
				return p.errorf("", "comments are not allowed here")
			}
			if err := p.comment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// First returns what follows the white space and the comments at the beginning of a text.
func First(text []byte) []byte {
	p := parser{text: text, relaxed: true}
	if p.space() != nil {
		return nil
	}
	return text[p.at:]
}

func (p *parser) comment() error {
	rest := p.text[p.at:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		p.at += end
		return nil
	case bytes.HasPrefix(rest, []byte("/*")):
		end := bytes.Index(rest[2:], []byte("*/"))
		if end < 0 {
			return p.errorf("", "the comment has no end")
		}
		for i, c := range rest[:end+4] {
			if c == '\n' {
				p.line++
				p.start = p.at + i + 1
			}
		}
		p.at += end + 4
		return nil
	}
	return p.unexpected("", "a value or a comment")
}

// word skips a word if it is here.
func (p *parser) word(word string) bool {
	if !bytes.HasPrefix(p.text[p.at:], []byte(word)) {
		return false
	}
	p.at += len(word)
	return true
}

func (p *parser) number(n *Node) error {
	start := p.at
	digits := func() bool {
		from := p.at
		for c := p.next(); c >= '0' && c <= '9'; c = p.next() {
			p.at++
		}
		return p.at > from
	}
	p.word("-")
	zero := p.next() == '0'
	whole := p.at
	good := digits() && (!zero || p.at-whole == 1)
	if good && p.word(".") {
		good = digits()
	}
	if c := p.next(); good && (c == 'e' || c == 'E') {
		p.at++
		if c := p.next(); c == '+' || c == '-' {
			p.at++
		}
		good = digits()
	}
	if !good {
		return p.errorf(n.Path, "this is not a number of JSON")
	}
	n.Kind, n.Text = Number, string(p.text[start:p.at])
	value, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || math.IsInf(value, 0) {
		return n.Errorf("%s is too large a number", n.Text)
	}
	n.Number = value
	return nil
}

// quoted reads a string.
func (p *parser) quoted(path string) (string, error) {
	var text []byte
	p.at++
	for {
		if p.at >= len(p.text) {
			return "", p.errorf(path, "the string has no end")
		}
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return string(text), nil
		case c < ' ':
			return "", p.errorf(path, "a string has no control characters: write \\n for a new line")
		case c == '\\':
			r, err := p.escape(path)
			if err != nil {
				return "", err
			}
			text = utf8.AppendRune(text, r)
		case c < utf8.RuneSelf:
			text = append(text, c)
			p.at++
		default:
			r, size := utf8.DecodeRune(p.text[p.at:])
			if r == utf8.RuneError && size == 1 {
				return "", p.errorf(path, "the string is not UTF-8")
			}
			text = append(text, p.text[p.at:p.at+size]...)
			p.at += size
		}
	}
}

var escapes = map[byte]rune{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

func (p *parser) escape(path string) (rune, error) {
	p.at++
	c := p.next()
	if r, ok := escapes[c]; ok {
		p.at++
		return r, nil
	}
	if c == 'u' {
		if r, ok := p.hex(); ok {
			if !utf16.IsSurrogate(r) {
				return r, nil
			}
			if p.word("\\") && p.next() == 'u' {
				if low, ok := p.hex(); ok {
					if r := utf16.DecodeRune(r, low); r != utf8.RuneError {
						return r, nil
					}
				}
			}
		}
	}
	return 0, p.errorf(path, "the string has an escape that JSON does not know")
}

// hex reads the u and four digits of an escape.
func (p *parser) hex() (rune, bool) {
	if p.at+5 > len(p.text) {
		return 0, false
	}
	value, err := strconv.ParseUint(string(p.text[p.at+1:p.at+5]), 16, 16)
	p.at += 5
	return rune(value), err == nil
}
