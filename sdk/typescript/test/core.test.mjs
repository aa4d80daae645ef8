// The SDK on a real service.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import test from 'node:test'
import { api, Matchmaker, MatchmakingError } from '@matchmaker/client'
import { udp } from '@matchmaker/client/node'
import { start } from './service.mjs'

const { options } = await start(test)
const matchmakerOf = (player, more) => new Matchmaker(options(player, more))

/** A storage that a crash leaves as it is. */
function storage() {
  const kept = { text: null, load: () => kept.text, save: (text) => void (kept.text = text) }
  return kept
}

/** The next update with a state. */
async function until(of, state) {
  for await (const update of of) if (update.state === state) return update
  assert.fail(`it ended without ${state}: ${JSON.stringify(of.update)}`)
}

const patience = { timeout: 60_000 }

test('two players get the same match, each with a seat of its own', patience, async () => {
  const [ada, bob] = ['ada', 'bob'].map((player) =>
    matchmakerOf(player).search({ queues: ['duel'], attributes: { skill: 1200 } }))
  const states = []
  for await (const { state } of ada) states.push(state)
  const [a, b] = await Promise.all([ada.match, bob.match])
  assert.equal(states[0], 'starting')
  assert.equal(states.at(-1), 'matched')
  assert.equal(a.connection, b.connection)
  assert.notEqual(a.ticket, b.ticket)
  assert.ok(a.seat && b.seat && a.seat !== b.seat)
  assert.ok(await ada.seat())
})

test('a search that waits is cancelled', patience, async () => {
  const kept = storage()
  const search = matchmakerOf('cyd', { storage: kept }).search({ queues: ['duel'], attributes: { skill: 1 } })
  await until(search, 'searching')
  assert.ok(kept.text)
  assert.equal(await search.estimate(), undefined)
  assert.deepEqual(await search.cancel(), { cancelled: true })
  await assert.rejects(search.match, { code: 'cancelled' })
  assert.equal(search.update.state, 'cancelled')
  assert.equal(kept.text, null)
})

test('a cancel that comes too late answers the match', patience, async () => {
  const [dan, eve] = ['dan', 'eve'].map((player) =>
    matchmakerOf(player).search({ queues: ['duel'], attributes: { skill: 2000 } }))
  const { connection } = await eve.match
  const late = await dan.cancel()
  assert.equal(late.cancelled, false)
  assert.equal(late.match.connection, connection)
})

test('a match asks its players, and the one who declines is out', patience, async () => {
  const search = (player) => matchmakerOf(player).search({ queues: ['asked'], attributes: { skill: 1200 } })
  const [fay, gus] = [search('fay'), search('gus')]
  const offer = await until(fay, 'offered')
  assert.equal(offer.players, 2)
  // Of 20 s; the service's clock and Redis's differ by some milliseconds.
  const left = offer.deadline - Date.now()
  assert.ok(left > 1000 && left < 20_100, String(left))
  await until(gus, 'offered')
  await gus.decline()
  await assert.rejects(gus.match, { code: 'ended', reason: 'declined' })
  await until(fay, 'searching')
  const hal = search('hal')
  await until(hal, 'offered')
  await until(fay, 'offered')
  await Promise.all([fay.accept(), hal.accept()])
  assert.equal((await fay.match).connection, (await hal.match).connection)
  await assert.rejects(fay.accept(), { code: 'conflict' })
})

test('a search is gone on with after a crash', patience, async () => {
  const kept = storage()
  const crash = new AbortController()
  const before = matchmakerOf('ivy', { storage: kept })
    .search({ queues: ['duel'], attributes: { skill: 3000 }, signal: crash.signal })
  const { ticket } = await until(before, 'searching')
  crash.abort()
  await assert.rejects(before.match, { name: 'AbortError' })
  for (const storage of [kept, undefined]) { // without a storage the service's list is asked
    const search = await matchmakerOf('ivy', storage && { storage }).restore()
    assert.equal(await search.ticket(), ticket)
  }
  const search = await matchmakerOf('ivy', { storage: kept }).restore()
  const jon = matchmakerOf('jon').search({ queues: ['duel'], attributes: { skill: 3000 } })
  assert.equal((await search.match).connection, (await jon.match).connection)
  assert.equal((await (await matchmakerOf('ivy', { storage: kept }).restore()).match).ticket, ticket)
  assert.equal(await matchmakerOf('kim', { storage: storage() }).restore(), undefined)
})

test('a party searches together', patience, async () => {
  const lea = await matchmakerOf('lea').createParty({ size: 2 })
  assert.ok(lea.leads)
  const max = await matchmakerOf('max').joinParty(lea.code.toLowerCase(), { ready: false })
  await assert.rejects(lea.start({ queues: ['duel'], attributes: { skill: 500 } }), { code: 'conflict' })
  await max.update({ ready: true })
  const started = await lea.start({ queues: ['duel'], attributes: { skill: 500 } })
  const { search } = await until(max, 'search')
  assert.equal(await search.ticket(), await started.ticket())
  const nia = matchmakerOf('nia').search({ queues: ['duel'], attributes: { skill: 500 } })
  const [a, b, c] = await Promise.all([started.match, search.match, nia.match])
  assert.equal(a.connection, c.connection)
  assert.equal(b.connection, c.connection)
  assert.equal((await matchmakerOf('max').party()).id, lea.id)
  await lea.kick('max')
  assert.equal((await until(max, 'left')).reason, 'kicked')
  await lea.leave()
  assert.equal((await until(lea, 'left')).reason, 'left')
  assert.equal(await matchmakerOf('lea').party(), undefined)
})

test('an app in the background asks nothing, and goes on when it is back', patience, async () => {
  const asked = []
  const matchmaker = matchmakerOf('oda', { fetch: (...args) => (asked.push(args), fetch(...args)) })
  const search = matchmaker.search({ queues: ['duel'], attributes: { skill: 4000 } })
  await until(search, 'searching')
  matchmaker.suspend()
  const before = asked.length
  await matchmakerOf('pia').search({ queues: ['duel'], attributes: { skill: 4000 } }).match
  assert.equal(asked.length, before)
  matchmaker.resume()
  assert.ok((await search.match).connection)
})

test('what the service refuses is an error of a closed set', patience, async () => {
  const refused = matchmakerOf('ada').search({ queues: ['no such queue'] })
  const error = await refused.match.catch((e) => e)
  assert.ok(error instanceof MatchmakingError)
  assert.equal(error.code, 'invalid')
  assert.equal(error.status, 400)
  assert.match(error.detail, /queue/)
  assert.ok(error.playerMessage && error.correlationId)
  await assert.rejects(matchmakerOf('ada').joinParty('AAA-AAA-AAA'), { code: 'not_found' })
  const noToken = matchmakerOf('ada', { token: () => 'no token' }).search()
  await assert.rejects(noToken.match, { code: 'token', status: 401 })
})

test('what a beacon measured is believed', patience, async () => {
  let local
  for (const more of [{ udp }, {}]) {
    const matchmaker = matchmakerOf('pam', more)
    const measured = await matchmaker.measure({ probes: 3, timeout: 200 })
    local = measured[0]
    assert.deepEqual(measured.map((l) => [l.region, l.rtt > 0, l.sent, l.lost, l.receipts.length]),
      [['local', true, 3, 0, 1], ['none', false, more.udp ? 3 : 0, more.udp ? 3 : 0, 0]])
    assert.equal(await matchmaker.measure(), await matchmaker.measure())
    assert.notEqual((await matchmaker.measure({ anew: true, probes: 1 }))[0], measured[0])
    const search = matchmaker.search({ queues: ['duel'], receipts: () => matchmaker.measure() })
    const { attributes } = await matchmaker.send(api.getTicket({ id: await search.ticket() }))
    assert.ok(attributes['latency-local'] > 0)
    await search.cancel()
  }
  const qua = matchmakerOf('qua')
  const party = await qua.createParty({ receipts: [local] })
  await assert.rejects(party.update({ receipts: [{ ...local, receipts: ['forged'] }] }), /receipts/)
  await assert.rejects(qua.search({ receipts: [local, local] }).match, /another one of region local/)
})

test('a request names any player', patience, async () => {
  for (const player of ['zoë', "utf-8'x"]) {
    const party = await matchmakerOf(player).createParty()
    const found = await matchmakerOf(player, { player }).send(api.myParty({ onBehalfOf: player }))
    assert.equal(found.id, party.id)
    await party.leave()
  }
})

test('the package can be required', () => {
  assert.equal(typeof createRequire(import.meta.url)('@matchmaker/client').Matchmaker, 'function')
})
