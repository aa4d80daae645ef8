// The service in memory, and what the SDK does on bad days.
import assert from 'node:assert/strict'
import test from 'node:test'
import { api } from '@matchmaker/client'
import { FakeService } from '@matchmaker/client/fake'
import { udp } from '@matchmaker/client/node'

const patience = { timeout: 30_000 }

async function until(of, state) {
  for await (const update of of) if (update.state === state) return update
  assert.fail(`it ended without ${state}`)
}

test('a test matches the players that it wants', patience, async () => {
  const fake = new FakeService()
  const [ada, bob] = ['ada', 'bob'].map((player) => fake.matchmaker(player).search({ attributes: { skill: 1 } }))
  await fake.searching('ada', 'bob')
  fake.match(['ada', 'bob'], { connection: '192.0.2.1:7000', properties: { map: 'harbour' } })
  const match = await ada.match
  assert.equal(match.connection, '192.0.2.1:7000')
  assert.deepEqual(match.matchProperties, { map: 'harbour' })
  assert.equal(match.seat, 'seat of ada')
  assert.equal((await bob.match).connection, '192.0.2.1:7000')
  assert.equal((await bob.cancel()).cancelled, false)
  assert.deepEqual(await fake.matchmaker('ada').measure(), [])
})

test('a match asks, is declined, and is offered again', patience, async () => {
  const fake = new FakeService()
  const [ada, bob] = ['ada', 'bob'].map((player) => fake.matchmaker(player).search())
  await fake.searching('ada', 'bob')
  fake.offer(['ada', 'bob'])
  await until(ada, 'offered')
  fake.answer('bob', false)
  await assert.rejects(bob.match, { code: 'ended', reason: 'declined', playerMessage: /declined/ })
  await until(ada, 'searching')
  const cyd = fake.matchmaker('cyd').search()
  await fake.searching('cyd')
  fake.offer(['ada', 'cyd'])
  await Promise.all([until(ada, 'offered'), until(cyd, 'offered')])
  await ada.accept()
  await cyd.accept()
  assert.equal((await ada.match).connection, (await cyd.match).connection)
})

test('who cancels while a match asks leaves the others waiting', patience, async () => {
  const fake = new FakeService()
  const [ada, bob] = ['ada', 'bob'].map((player) => fake.matchmaker(player).search())
  await fake.searching('ada', 'bob')
  fake.offer(['ada', 'bob'])
  await Promise.all([until(ada, 'offered'), until(bob, 'offered')])
  assert.equal((await ada.cancel()).cancelled, true)
  await until(bob, 'searching')
  fake.offer(['bob'])
  await until(bob, 'offered')
  fake.end('bob', 'unserved')
  await assert.rejects(bob.match, { code: 'ended', reason: 'unserved' })
})

test('who does not answer in time is out', patience, async () => {
  const fake = new FakeService({ speed: 100 })
  const ada = fake.matchmaker('ada').search()
  await fake.searching('ada')
  fake.offer(['ada'], 5)
  await assert.rejects(ada.match, { code: 'ended', reason: 'silent' })
})

test('a service that is full says when to come again', patience, async () => {
  const fake = new FakeService()
  fake.full = 120
  await assert.rejects(fake.matchmaker('ada').search().match,
    { code: 'busy', retryAfter: 120_000, problem: 'tooManyTickets' })
})

test('a service that is gone and comes back loses nobody', patience, async () => {
  const fake = new FakeService({ speed: 100 })
  const ada = fake.matchmaker('ada').search()
  await fake.searching('ada')
  await until(ada, 'searching')
  fake.gone = true
  fake.match(['ada'])
  setTimeout(() => (fake.gone = false), 50)
  assert.ok((await ada.match).connection)
  fake.gone = true
  await assert.rejects(fake.matchmaker('bob').search().match, { code: 'offline' })
})

test('a search takes no longer than the game allows', patience, async () => {
  const fake = new FakeService({ speed: 100 })
  const search = fake.matchmaker('ada').search({ timeout: 10_000 })
  await assert.rejects(search.match, { code: 'timeout' })
  assert.deepEqual(fake.waiting, [])
})

test('a search whose signal has aborted is cancelled as another one', patience, async () => {
  const fake = new FakeService()
  for (const late of [false, true]) {
    const leaves = new AbortController()
    const ada = fake.matchmaker('ada').search({ signal: leaves.signal })
    await until(ada, 'searching')
    leaves.abort()
    await assert.rejects(ada.match, { name: 'AbortError' })
    if (late) fake.match(['ada'])
    const { cancelled, match } = await ada.cancel()
    assert.equal(cancelled, !late)
    assert.equal(match?.connection, late ? '127.0.0.1:7777' : undefined)
    assert.deepEqual(fake.waiting, [])
  }
  const leaves = new AbortController()
  const never = () => {
    leaves.abort()
    return new Promise(() => {})
  }
  const bob = fake.matchmaker('bob', { fetch: never }).search({ signal: leaves.signal })
  await assert.rejects(bob.cancel(), { name: 'AbortError' }) // there may be a ticket
})

test('what a newer search keeps is left as it is', patience, async () => {
  const fake = new FakeService()
  const newer = '{"ticket":"newer"}' // it is there as soon as the create of this one is sent
  const storage = { text: null, load: () => storage.text, save: (text) => void (storage.text = text?.includes('key') ? newer : text) }
  const left = async (search, code) => {
    await assert.rejects(search.match, { code })
    await new Promise((done) => setImmediate(done))
    assert.equal(storage.text, newer, code)
  }
  const [ada, bob] = ['ada', 'bob'].map((player) => fake.matchmaker(player, { storage }).search())
  await fake.searching('ada', 'bob')
  await ada.cancel()
  await left(ada, 'cancelled')
  fake.end('bob', 'unserved')
  await left(bob, 'ended')
  fake.full = 120
  await left(fake.matchmaker('cyd', { storage }).search(), 'busy')
})

test('a search that is refused leaves what was kept before', patience, async () => {
  const fake = new FakeService()
  fake.full = 120
  const older = '{"ticket":"older"}'
  const storage = { text: older, load: () => storage.text, save: (text) => void (storage.text = text) }
  await assert.rejects(fake.matchmaker('ada', { storage }).search().match, { code: 'busy' })
  assert.equal(storage.text, older)
})

test('a ticket whose answers were lost is found by its key', patience, async () => {
  const fake = new FakeService({ speed: 100 })
  let lost = 0
  const ada = fake.matchmaker('ada', {
    fetch: async (url, init) => {
      const answer = await fake.fetch(url, init)
      if (init.method === 'POST' && lost++ >= 0) throw new TypeError('the answer is lost')
      return answer
    },
  }).search()
  assert.equal(await ada.ticket(), 'ticket-1')
  assert.equal(lost, 6)
  assert.deepEqual(fake.waiting, ['ada'])
})

/** A fetch that answers streams in another way. */
const streams = (fake, answer) => (url, init) =>
  (String(url).includes('/events') ? answer(url, init) : fake.fetch(url, init))

test('behind a proxy that keeps streams back the service is asked', patience, async () => {
  const fake = new FakeService({ speed: 20 })
  const ada = fake.matchmaker('ada', { fetch: streams(fake, () => new Promise(() => {})) }).search()
  const silent = async () =>
    new Response(new ReadableStream(), { headers: { 'Content-Type': 'text/event-stream' } })
  const bob = fake.matchmaker('bob', { fetch: streams(fake, silent) }).search()
  await Promise.all([until(ada, 'searching'), until(bob, 'searching')])
  fake.match(['ada', 'bob'])
  await Promise.all([ada.match, bob.match])
})

test('events that are cut, come twice, late or are unknown change nothing', patience, async () => {
  const fake = new FakeService({ speed: 100 })
  const event = (name, data) => `id: ${name}\r\nevent: ${name}\r\ndata: ${JSON.stringify(data)}\r\n\r\n`
  const acceptance = { match: 'm', remaining: 9000, players: 4, accepted: 2, unanswered: ['ada'], later: 1 }
  const text = ': hello\n\n' + event('waiting', {}) + event('waiting', {}) + event('of-a-later-version', { a: 1 }) +
    event('acceptance', { acceptance }) + event('acceptance', { acceptance: { ...acceptance, accepted: 1 } }) +
    event('acceptance', { acceptance }) + event('assigned', { assignment: { connection: 'c', error: '', later: {} } })
  const lasts = []
  const ada = fake.matchmaker('ada', {
    fetch: streams(fake, async (_url, init) => {
      lasts.push(init.headers['Last-Event-ID'])
      const [begin, end] = lasts.length === 1 ? [0, 150] : [150, text.length]
      return new Response(new ReadableStream({
        start(c) {
          for (let i = begin; i < end; i += 7) c.enqueue(new TextEncoder().encode(text.slice(i, Math.min(end, i + 7))))
          c.close()
        },
      }), { headers: { 'Content-Type': 'text/event-stream' } })
    }),
  }).search()
  const states = []
  for await (const { state } of ada) states.push(state)
  assert.deepEqual(states, ['starting', 'searching', 'offered', 'matched'])
  assert.equal(lasts[0], undefined)
  assert.ok(lasts[1])
})

const json = (text, status = 200) => new Response(text, { status, headers: { 'Content-Type': 'application/json' } })

test('what is told of regions is of any type', patience, async () => {
  const fake = new FakeService()
  const told = ['{"regions":null}', '[1]',
    '{"receiptSeconds":"x","regions":[null,1,{"url":["http://x"],"udp":5},{"name":"eu","url":"nowhere:"}]}']
  const matchmaker = fake.matchmaker('ada', { udp: () => assert.fail(), fetch: async () => json(told.shift()) })
  const regions = async () => (await matchmaker.measure({ anew: true })).map((l) => [l.region, l.sent])
  assert.deepEqual(await regions(), [])
  assert.deepEqual(await regions(), [])
  assert.deepEqual(await regions(), [['', 0], ['eu', 0]])
  assert.equal(api.getParty('\ud800\u{1f600}').path, 'v1/parties/%EF%BF%BD%F0%9F%98%80')
  assert.equal(api.segment, undefined)
})

test('an answer that comes byte by byte has an end, whatever the time of day is', patience, async () => {
  const fake = new FakeService()
  const clock = {
    now: () => 5,
    steady: () => performance.now() * 1000,
    setTimeout: (f, ms) => setTimeout(f, ms / 1000),
    clearTimeout,
  }
  const drip = async (url, { signal }) => new Response(new ReadableStream({
    async pull(c) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (!signal.aborted) c.enqueue(new Uint8Array([32]))
    },
  }), { headers: { 'Content-Type': 'application/json' } })
  await assert.rejects(fake.matchmaker('ada', { clock, fetch: drip }).party(), { code: 'offline' })
})

test('a token is replaced before it ends, and when it is refused', patience, async () => {
  const fake = new FakeService()
  const asked = []
  let now = 0
  let refuse = false
  const token = (why) => {
    asked.push(why)
    const claims = JSON.stringify({ sub: 'ada', iat: 5_000_000, exp: 5_000_090, n: asked.length })
    return `fake.${btoa(claims)}.fake`
  }
  const clock = { now: () => now, setTimeout: (f, ms) => setTimeout(f, ms), clearTimeout }
  const matchmaker = fake.matchmaker('ada', {
    token,
    clock,
    fetch: async (url, init) => {
      if (!refuse) return fake.fetch(url, init)
      refuse = false
      return new Response('{}', { status: 401 })
    },
  })
  await matchmaker.party()
  now = 59_000
  await matchmaker.party()
  assert.deepEqual(asked, ['first'])
  now = 61_000
  await matchmaker.party()
  assert.deepEqual(asked, ['first', 'expiring'])
  refuse = true
  await matchmaker.party()
  assert.deepEqual(asked, ['first', 'expiring', 'refused'])
})

test("a game server's next token comes for its last one, which is refused once", patience, async () => {
  const fake = new FakeService()
  const first = `fake.${btoa('{"sub":"ada","iat":0,"exp":90}')}.fake`
  for (const [status, next] of [[200, 'next'], [401, first]]) {
    const asked = []
    let now = 0
    const server = fake.matchmaker('ada', {
      token: async (why) => (why === 'first' ? first : (await server.send(api.renewServerToken())).token),
      clock: { now: () => now, setTimeout: (f, ms) => setTimeout(f, ms / 100), clearTimeout },
      fetch: async (_url, { method, headers }) => {
        asked.push(`${method} ${headers.Authorization}`)
        return json('{"token":"next"}', method === 'GET' ? 200 : status)
      },
    })
    await server.send(api.myParty())
    now = 61_000
    await server.send(api.myParty())
    assert.deepEqual(asked, [`GET Bearer ${first}`, `POST Bearer ${first}`, `GET Bearer ${next}`])
  }
})

test('a device that slept asks at once', patience, async () => {
  const fake = new FakeService()
  const timers = new Set()
  let now = 0
  const clock = {
    now: () => now,
    setTimeout: (f, ms) => {
      const timer = { f, ms }
      timers.add(timer)
      return timer
    },
    clearTimeout: (timer) => timers.delete(timer),
  }
  let opened = 0
  const ada = fake.matchmaker('ada', {
    clock,
    fetch: streams(fake, (url, init) => {
      opened++
      return opened === 1 ? new Promise(() => {}) : fake.fetch(url, init)
    }),
  }).search()
  await fake.searching('ada')
  while (opened === 0) await new Promise(setImmediate)
  fake.match(['ada'])
  now = 3_600_000 // no timer has fired meanwhile
  const [tick] = [...timers].filter((timer) => timer.ms === 10_000)
  tick.f()
  assert.ok((await ada.match).connection)
})

test('requests go on when the clock is set back', patience, async () => {
  const fake = new FakeService()
  let behind = 0
  let reads = 0
  const clock = {
    now: () => Date.now() - behind,
    steady: () => performance.now() * 100,
    setTimeout: (f, ms) => setTimeout(f, ms / 100),
    clearTimeout,
  }
  const ada = fake.matchmaker('ada', {
    clock,
    fetch: async (url, init) => {
      if (String(url).includes('/events')) return new Response('', { status: 405 })
      if (init.method !== 'GET' || ++reads > 1) return fake.fetch(url, init)
      behind = 3_600_000
      return json('{"id":"ticket-1"}')
    },
  }).search()
  await until(ada, 'searching')
  fake.match(['ada'])
  assert.ok((await ada.match).connection)
})

test('addresses of a family that leads nowhere are left out', async () => {
  assert.deepEqual(await udp('255.255.255.255:9'), [])
})

test('a party is led, joined by its code, and left', patience, async () => {
  const fake = new FakeService()
  const ada = await fake.matchmaker('ada').createParty({ size: 2 })
  const bob = await fake.matchmaker('bob').joinParty(`${ada.code.slice(0, 4)}-${ada.code.slice(4)}`)
  await assert.rejects(fake.matchmaker('cyd').joinParty(ada.code), { code: 'conflict', problem: 'partyFull' })
  await assert.rejects(bob.start(), { code: 'forbidden' })
  const search = await ada.start()
  fake.match(['bob'])
  assert.equal((await (await until(bob, 'search')).search.match).ticket, (await search.match).ticket)
  const stopped = await ada.start()
  await until(stopped, 'searching')
  await ada.stop()
  assert.equal(ada.search, undefined)
  await assert.rejects(stopped.match, { code: 'ended', reason: 'deleted' })
  const next = await ada.start()
  await fake.searching('ada', 'bob')
  fake.match(['ada'])
  assert.notEqual((await next.match).ticket, (await search.match).ticket)
  await ada.leave()
  for await (const { party } of bob) if (party.leader === 'bob') break
  await bob.disband()
  assert.equal((await until(bob, 'left')).reason, 'disbanded')
  assert.equal(await fake.matchmaker('bob').party(), undefined)
})
