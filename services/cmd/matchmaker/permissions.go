package main

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/state"
)

// permissionsCmd prints the rights of each service, as the servers' own configuration.
type permissionsCmd struct {
	Redis     permissionsRedisCmd     `cmd:"" help:"Print the users of Redis, as a file for its 'aclfile'."`
	NATS      permissionsNATSCmd      `cmd:"" name:"nats" help:"Print the users of NATS, as a block of nats-server's configuration."`
	Passwords permissionsPasswordsCmd `cmd:"" help:"Make a password for each user that has none in a folder yet."`
}

// users are the users that are asked for.
type users struct {
	Accounts  []string `arg:"" optional:"" name:"account" help:"Only these: ${services}; operator, which may do everything; events, which follows events on NATS; replica and sentinel, for the logins of Redis's replicas and Sentinels; all, the user of 'matchmaker all'. Without any of them all but that one."`
	Passwords string   `help:"Folder with a file of each user's password, named as the account, that 'matchmaker permissions passwords' makes. What is printed has their hashes." type:"existingdir" placeholder:"DIR" group:"connections"`
}

// Validate is called by kong.
func (u *users) Validate() error {
	for _, name := range u.Accounts {
		if !account.Known(name) {
			return fmt.Errorf("%s: no such account: %s and all are known", name, strings.Join(account.Names(), ", "))
		}
	}
	return nil
}

func (u *users) accounts() []string {
	if len(u.Accounts) > 0 {
		return u.Accounts
	}
	return account.Names()
}

// print prints a file of the users that a server has, which asks for the word in the place of each password: its hash,
// or what placeholder says where there are no passwords.
func (u *users) print(s streams, placeholder func(account string) string, hash func(password string) (string, error),
	file func(accounts []string, password func(account string) string) string,
) error {
	var failed error
	text := file(u.accounts(), func(name string) string {
		if u.Passwords == "" {
			return placeholder(name)
		}
		word, err := u.hashed(name, hash)
		failed = cmp.Or(failed, err)
		return word
	})
	if failed != nil {
		return fmt.Errorf("--passwords: %w", failed)
	}
	_, err := fmt.Fprint(s.out, text)
	return err
}

// hashed is the hash of an account's password.
func (u *users) hashed(name string, hash func(password string) (string, error)) (string, error) {
	password, err := account.Secret(filepath.Join(u.Passwords, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: 'matchmaker permissions passwords' makes those that are missing", err)
	}
	if err != nil {
		return "", err
	}
	word, err := hash(password)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return word, nil
}

type permissionsRedisCmd struct {
	users
}

func (permissionsRedisCmd) Help() string {
	return `The user of the service ticket is matchmaker-ticket, and so on. Without --passwords the place of each
password's hash has a word that Redis refuses: put the SHA-256 there, in hexadecimal. No other user may log in.
Redis 7 or later is needed.`
}

func (c *permissionsRedisCmd) Run(s streams) error {
	return c.print(s,
		func(account string) string { return "SHA256-OF-THE-PASSWORD-OF-" + account },
		func(password string) (string, error) {
			sum := sha256.Sum256([]byte(password))
			return hex.EncodeToString(sum[:]), nil
		},
		state.ACLFile)
}

type permissionsNATSCmd struct {
	users
}

func (permissionsNATSCmd) Help() string {
	return `The user of the service ticket is matchmaker-ticket, and so on. Without --passwords the server takes
each password from an environment variable of its own, such as MATCHMAKER_TICKET_PASSWORD, or from a line of its
configuration that sets one of this name. No other user may log in. With decentralized accounts give the users of your
own account the same permissions.`
}

func (c *permissionsNATSCmd) Run(s streams) error {
	return c.print(s,
		func(account string) string { return "$MATCHMAKER_" + strings.ToUpper(account) + "_PASSWORD" },
		func(password string) (string, error) {
			// The passwords are random and long: a slow check, for each connection, would gain nothing.
			hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
			return fmt.Sprintf("%q", hash), err
		},
		bus.Users)
}

type permissionsPasswordsCmd struct {
	Folder string `arg:"" type:"path" help:"The folder, which is made when there is none. It is a secret."`
}

func (permissionsPasswordsCmd) Help() string {
	return `All users may read the files, and only the folder's owner may enter the folder: containers have users of
their own. To change a password remove its file, and run this and the other commands again.`
}

func (c *permissionsPasswordsCmd) Run(s streams) error {
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return err
	}
	for _, name := range append(account.Names(), account.All) {
		file := filepath.Join(c.Folder, name)
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return err
			}
			continue
		}
		if err := os.WriteFile(file, []byte(rand.Text()+rand.Text()+"\n"), 0o644); err != nil { //nolint:gosec // see Help
			return err
		}
		fmt.Fprintf(s.out, "%s: the password of %s\n", file, account.User(name))
	}
	return nil
}
