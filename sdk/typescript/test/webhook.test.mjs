// The cases of the verifier in Go, with the headers of fetch and of Node.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { verifyWebhook, WebhookError } from '@matchmaker/client'

const { usual, cases } = JSON.parse(readFileSync('../../pkg/client/testdata/webhook.json', 'utf8'))

test('a request of a webhook is believed if it is signed and of now', async () => {
  assert.ok(cases.length > 0)
  for (const c of cases) {
    const r = { ...usual, ...c }
    const headers = { 'webhook-id': r.id, 'webhook-timestamp': r.timestamp, 'webhook-signature': r.signature }
    const text = c.spaces ? ' '.repeat(c.spaces) : r.body
    const secrets = [`whsec_${'B'.repeat(32)}`, r.secret]
    for (const [of, body] of [[headers, new TextEncoder().encode(text)], [new Headers(headers), text]]) {
      const event = verifyWebhook(of, body, secrets, new Date(r.now * 1000))
      if (c.ok) assert.deepEqual(await event, JSON.parse(r.body), c.name)
      else await assert.rejects(event, WebhookError, c.name)
    }
  }
})

test('no header and no secret are refused, and so is what is old by the clock', async () => {
  const { id, timestamp, signature, body, secret } = usual
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  const now = new Date(usual.now * 1000)
  assert.ok(await verifyWebhook(headers, body, secret, now))
  for (const args of [[{}, body, secret, now], [headers, body, [], now], [headers, body, secret]]) {
    await assert.rejects(verifyWebhook(...args), WebhookError)
  }
})
