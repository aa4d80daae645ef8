// Package clients makes clients out of our OpenAPI documents with the generators that people use, and compiles what
// comes out: oapi-codegen for Go, openapi-typescript for TypeScript. package.json pins the latter.
package clients
