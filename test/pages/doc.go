// Package pages runs the commands of the documents as they stand, in order, each page in a checkout of its own.
package pages
