// The driver of the conformance programme: ../conformance/PROTOCOL.md says what it reads and writes.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Matchmaker, MatchmakingError } from '@matchmaker/client'
import { udp } from '@matchmaker/client/node'

const say = (event, members = {}) => process.stdout.write(`${JSON.stringify({ event, ...members })}\n`)

let matchmaker, search, party, time, latencies
let cancelling = false
/** Takes the token that was asked for. */
let answerToken = () => {}

/** A file that outlives the driver. */
const storageIn = (folder) => {
  const file = join(folder, 'search')
  return {
    load: () => {
      try {
        return readFileSync(file, 'utf8')
      } catch {
        return null
      }
    },
    save: (text) => {
      mkdirSync(folder, { recursive: true })
      if (text === null) rmSync(file, { force: true })
      else writeFileSync(file, text)
    },
  }
}

function start({ url, project, for: player, storage, scale = 1, clock = 0, epoch = Date.now() }) {
  time = {
    now: () => epoch + (Date.now() - epoch) / scale + clock,
    setTimeout: (f, ms) => setTimeout(f, Math.min(ms * scale, 2 ** 31 - 1)),
    clearTimeout,
  }
  const options = {
    url,
    project,
    player,
    token: (reason) => {
      say('token', { reason })
      return new Promise((resolve, reject) => {
        answerToken = ({ token, error }) => (token ? resolve(token) : reject(new Error(error)))
      })
    },
    clock: time,
    udp,
  }
  if (storage) options.storage = storageIn(storage)
  matchmaker = new Matchmaker(options)
  say('ready', { language: 'typescript', can: ['player', 'party', 'measure', 'heads', 'redirects', 'acts'] })
}

const sayError = ({ code, playerMessage }) => say('error', { code, player: playerMessage })
const sayMatched = ({ ticket, connection, seat }) => say('matched', { ticket, connection, seat })

/** Says what becomes of a search. */
async function follow(of) {
  search = of
  for await (const u of of) {
    if (u.state === 'searching') say('searching', { ticket: u.ticket, estimate: u.estimate })
    if (u.state === 'offered') {
      const remaining = Math.round(u.deadline - time.now())
      say('offered', { match: u.match, remaining, players: u.players, accepted: u.accepted })
    }
    if (u.state === 'matched' && !cancelling) sayMatched(u.match)
    if (u.state === 'cancelled') say('cancelled')
    if (u.state !== 'failed') continue
    const { code, reason, detail } = u.error
    if (code === 'ended') say('failed', { reason })
    else if (code === 'failed') say('failed', { reason: 'assignment', detail })
    else sayError(u.error)
  }
}

async function followParty(of) {
  party = of
  for await (const u of of) {
    const { code, leader, members, revision } = u.party
    const who = members.map(({ id, ready }) => ({ id, ready }))
    if (u.state === 'party') say('party', { code, leader, members: who, revision })
    if (u.state === 'search') void follow(u.search)
    if (u.state === 'left') u.error ? sayError(u.error) : say('left', { reason: u.reason })
  }
}

async function cancel() {
  cancelling = true
  try {
    const outcome = await search.cancel()
    if (outcome.cancelled) return
    say('late')
    sayMatched(outcome.match)
  } finally {
    cancelling = false
  }
}

const commands = {
  start,
  token: (c) => answerToken(c),
  search: ({ queues, attributes, measured }) =>
    void follow(matchmaker.search({ queues, attributes, ...(measured && { receipts: latencies }) })),
  measure: async ({ network, probes, timeout }) => {
    latencies = await matchmaker.measure({ network, probes, timeout })
    say('latencies', { regions: latencies })
  },
  restore: async () => {
    const left = await matchmaker.restore()
    if (left) void follow(left)
    else say('idle')
  },
  cancel,
  accept: () => search.accept(),
  decline: () => search.decline(),
  suspend: () => matchmaker.suspend(),
  resume: () => matchmaker.resume(),
  estimate: async () => say('estimate', await search.estimate()),
  'party-create': async ({ size }) => void followParty(await matchmaker.createParty({ size })),
  'party-join': async ({ code }) => void followParty(await matchmaker.joinParty(code)),
  'party-ready': ({ ready }) => party.update({ ready }),
  'party-search': async ({ queues, attributes }) => void (await party.start({ queues, attributes })),
  'party-kick': ({ player }) => party.kick(player),
  'party-leave': () => party.leave(),
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const command = JSON.parse(line)
  const run = commands[command.do]
  if (!run) return say('unsupported', { do: command.do })
  try {
    await run(command)
  } catch (e) {
    if (!(e instanceof MatchmakingError)) throw e
    sayError(e)
  }
}).on('close', () => process.exit())
