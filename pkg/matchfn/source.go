//go:build !wasip1

package matchfn

import (
	"embed"
	"io/fs"
)

//go:embed go.mod *.go block fake internal pack rounding rules settings
var source embed.FS

// Source returns the files of this module without its dialects, for tools that write projects which build without a
// module proxy.
func Source() fs.FS { return source }
