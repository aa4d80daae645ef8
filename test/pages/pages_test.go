//go:build linux

package pages

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var bin = flag.String("bin", "", "the folder of what make build builds")

// patience is how long the commands of a page may take on a loaded machine.
const patience = 10 * time.Minute

// Each block of commands runs, or skipped names it.
func TestCommandsOfPagesRun(t *testing.T) {
	if *bin == "" {
		t.Skip("make check PART=pages builds what it needs")
	}
	tree := checkout(t)
	t.Run("code", func(t *testing.T) { compile(t, tree) })
	left, unknown := slices.Clone(skipped), maps.Clone(pages)
	for _, name := range strings.Fields(run(t, tree, "find", ".", "-name", "*.md", "-printf", "%P\n")) {
		blocks := slices.DeleteFunc(read(t, tree, name), func(b block) bool {
			i := slices.IndexFunc(left, func(s skip) bool { return s.page == name && strings.HasPrefix(b.commands, s.begin) })
			if i >= 0 {
				left = slices.Delete(left, i, i+1)
			}
			return i >= 0
		})
		if len(blocks) == 0 {
			continue
		}
		delete(unknown, name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, tree, name, blocks)
		})
	}
	if len(left)+len(unknown) > 0 {
		t.Errorf("the tables name blocks and pages that are not there: %v %v", left, unknown)
	}
}

// checkout copies the files of the repository, as a clone has them, and what is built.
func checkout(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "matchmaker")
	run(t, "../..", "bash", "-euo", "pipefail", "-c", `mkdir -p "$0/bin"; cp -r "$1"/{matchmaker,mm,functions} "$0/bin"
		mkdir -p "$0/bin/sdk" "$0/sdk/typescript"; cp "$1"/sdk/matchmaker-client-*.tgz "$0/bin/sdk"
		ln -s "$PWD"/sdk/typescript/{dist,node_modules} "$0/sdk/typescript"
		for file in $(git ls-files --cached --others --exclude-standard); do [ ! -e $file ] || echo $file; done |
			xargs cp --parents --target-directory "$0"`, dir, *bin)
	run(t, "../../services", "go", "build", "-o", filepath.Join(dir, "bin/nats-server"),
		"github.com/nats-io/nats-server/v2")
	return dir
}

// run runs a command in a folder, and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// prelude is what the blocks of a page have before them: a network of their own, so that each has the usual ports, and
// what becomes of lines that do not end, or that fail.
const prelude = `
ip link set lo up
export PATH="$PWD/bin:$PATH"
await() {
  for _ in {1..600}; do if eval "$1" >/dev/null 2>&1; then return; fi; sleep 0.2; done
  echo "it never came to that: $1"; exit 1
}
serve() { local ready=$1; shift; "$@" & disown; await "$ready"; }
interrupt() {
  local ready=$1; shift
  set -m; "$@" & set +m
  await "$ready"; kill -INT $!; wait $! || [ $? = 130 ]
}
refused() {
  local code=$1 said; shift
  if said=$("$@" 2>&1); then echo "not refused: $said"; exit 1; fi
  echo "$said"; [[ $said == *"$code"* ]]
}
`

var refusal = regexp.MustCompile(`(?m)^(.*\S) +# (4\d\d)$`)

// play runs the blocks of a page in a copy of the tree.
func play(t *testing.T, tree, name string, blocks []block) {
	p, dir := pages[name], filepath.Join(t.TempDir(), "matchmaker")
	run(t, "", "cp", "-r", "--preserve=mode", tree, dir)
	script := prelude
	if !p.alone {
		script += "serve 'bin/mm function list' bin/matchmaker dev >dev.log 2>&1\n"
		for _, b := range read(t, tree, "README.md")[1:3] {
			script += b.commands
		}
	}
	script += p.before
	for i, b := range blocks {
		lines := refusal.ReplaceAllString(b.commands, "refused $2 $1")
		for begin, ready := range p.serve {
			lines = prefix(lines, begin, "serve '"+ready+"' ")
		}
		for begin, ready := range p.interrupt {
			lines = prefix(lines, begin, "interrupt '"+ready+"' ")
		}
		for begin, setup := range p.within {
			if strings.HasPrefix(lines, begin) {
				lines = "(" + setup + "\n" + lines + ")\n"
			}
		}
		script += fmt.Sprintf("\n{ echo '# %s:%d'\n%s} >block.%d 2>&1\n", name, b.line, lines, i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
	if os.Getuid() != 0 {
		cmd.Args = append(cmd.Args, "--map-root-user")
	}
	cmd.Args = append(cmd.Args, "bash", "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(dir), "LANG=C.UTF-8", "GOPROXY=off", "CGO_ENABLED=0",
		"XDG_CACHE_HOME=" + filepath.Dir(tree), // machine code of functions, which one page leaves for the next
		"GOCACHE=" + strings.TrimSpace(run(t, "", "go", "env", "GOCACHE")),
		"GOMODCACHE=" + strings.TrimSpace(run(t, "", "go", "env", "GOMODCACHE")),
	}
	out, err := cmd.CombinedOutput()
	all := string(out)
	for i, b := range blocks {
		printed, _ := os.ReadFile(filepath.Join(dir, fmt.Sprint("block.", i)))
		all += string(printed)
		if line := lacks(string(printed), b.output); line != "" && err == nil {
			t.Errorf("%s:%d shows %q, which the commands do not print", name, b.line, line)
		}
	}
	if err != nil {
		t.Errorf("%v", err)
	} else {
		p.verify(t, all)
	}
	if t.Failed() {
		log, _ := os.ReadFile(filepath.Join(dir, "dev.log"))
		t.Logf("%s\n%s", all, log[max(0, len(log)-4096):])
	}
}

// prefix puts text before the lines that begin so.
func prefix(lines, begin, text string) string {
	return regexp.MustCompile("(?m)^"+regexp.QuoteMeta(begin)).ReplaceAllLiteralString(lines, text+begin)
}

var connection = regexp.MustCompile(`(?m)^connection +(\S+)$`)

// verify looks for what a page says that its commands print.
func (p page) verify(t *testing.T, printed string) {
	for _, text := range p.prints {
		if !strings.Contains(printed, text) {
			t.Errorf("the commands do not print %q", text)
		}
	}
	var games []int
	last := ""
	for _, c := range connection.FindAllStringSubmatch(printed, -1) {
		if c[1] != last {
			games = append(games, 0)
		}
		games[len(games)-1]++
		last = c[1]
	}
	if !slices.Equal(games, p.games) {
		t.Errorf("connections of games with %v players are printed, want %v", games, p.games)
	}
}
