//go:build !wasip1

package matchfn

import (
	"embed"
	"io/fs"
)

//go:embed go.mod *.go block fake internal pack settings
var source embed.FS

// Source returns this module's own files, for tools that write projects which
// have to build without a module proxy.
func Source() fs.FS { return source }
