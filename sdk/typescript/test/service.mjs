// A service for tests: `matchmaker dev`, built from this repository, with a function and a config.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../..')
export const bin = process.env.MATCHMAKER_BIN ?? join(root, 'bin')

/** Starts a program, and waits for addresses in what it says. */
async function serve(test, args, ...patterns) {
  const log = []
  const server = spawn(join(bin, 'matchmaker'), args)
  process.on('exit', (code) => {
    server.kill('SIGKILL')
    if (code !== 0) console.error(log.join(''))
  })
  test.after(async () => {
    server.kill()
    await new Promise((ended) => (server.exitCode !== null ? ended() : server.on('exit', ended)))
  })
  return new Promise((found, failed) => {
    const read = (text) => {
      log.push(text)
      const addresses = patterns.map((p) => p.exec(log.join(''))?.[1])
      if (addresses.every(Boolean)) found(addresses)
    }
    server.stdout.setEncoding('utf8').on('data', read)
    server.stderr.setEncoding('utf8').on('data', read)
    server.on('exit', () => failed(new Error(`matchmaker ${args[0]} ended:\n${log.join('')}`)))
  })
}

/**
 * Starts a service, and a beacon of the region local. Its configs match two players each: `duel` at once, `asked` when
 * both accept.
 */
export async function start(test, { origins = '*' } = {}) {
  const data = mkdtempSync(join(tmpdir(), 'matchmaker-'))
  test.after(() => rmSync(data, { recursive: true }))
  const file = (name, text) => {
    writeFileSync(join(data, name), text)
    return join(data, name)
  }
  const keys = join(data, 'beacon.keys')
  execFileSync(join(bin, 'matchmaker'), ['keys', 'beacon', keys], { stdio: 'ignore' })
  const [datagrams, probes] = await serve(test, ['beacon', '--region', 'local', '--beacon-keys', keys,
    '--listen', '127.0.0.1:0', '--udp-listen', '127.0.0.1:0'],
    /probes".*"address":"([^"]+)"/, /"serving","address":"([^"]+)"/)
  const regions = file('regions.yaml', `
- { region: local, udp: '${datagrams}', url: 'http://${probes}', keys: '${keys}' }
- { region: none, udp: '${probes}', protocol: echo }
`)
  const [url] = await serve(test, ['dev', '--listen', '127.0.0.1:0', '--data', data, '--provider', 'instant',
    '--cors-origins', origins, '--regions', regions], /(http:\/\/127\.0\.0\.1:\d+)/)
  const mm = (...args) => execFileSync(join(bin, 'mm'), [...args, '--timeout', '10m'], // a function is compiled
    { encoding: 'utf8', env: { ...process.env, MM_DATA: data, MM_URL: url, HOME: data } })
  mm('function', 'put', 'duel', join(bin, 'functions/duel.zip'))
  /** Puts a config. One named `open` is for tickets without a queue. */
  const config = (name, more, of = 'duel') => {
    const matchmaking = { targetFunction: { name: of }, config: { attribute: 'skill', window: 100 } }
    const hosting = { Profile: 'default', FleetId: 'local' }
    const queue = name === 'open' ? {} : { queue: name }
    mm('config', 'put', name, file(`${name}.json`, JSON.stringify({ matchmaking, ...queue, hosting, ...more })))
  }
  config('duel', { seats: true })
  config('asked', { seats: true, acceptance: { seconds: 20 } })
  mm('project', 'settings', 'set', file('settings.json', JSON.stringify({
    tickets: { listed: true, refuseUnserved: true },
    attributes: { 'latency-local': { setBy: 'beacon', region: 'local' } },
  })))
  /** What a player's Matchmaker is made with. */
  const options = (player, more) =>
    ({ url, project: 'demo', token: () => mm('token', 'player', player).trim(), ...more })
  return { url, options, mm, config, file }
}
