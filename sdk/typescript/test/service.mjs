// A service for tests: `matchmaker dev`, built from this repository, with a function and a config.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../..')
const bin = process.env.MATCHMAKER_BIN ?? join(root, 'bin')

/** Starts a service. Its configs match two players each: `duel` at once, `asked` when both accept. */
export async function start(test) {
  const data = mkdtempSync(join(tmpdir(), 'matchmaker-'))
  const log = []
  const server = spawn(join(bin, 'matchmaker'),
    ['dev', '--listen', '127.0.0.1:0', '--data', data, '--provider', 'instant', '--cors-origins', '*'])
  process.on('exit', (code) => {
    server.kill('SIGKILL')
    if (code !== 0) console.error(log.join(''))
  })
  const url = await new Promise((found, failed) => {
    const read = (text) => {
      log.push(text)
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(text)
      if (address) found(address[0])
    }
    server.stdout.setEncoding('utf8').on('data', read)
    server.stderr.setEncoding('utf8').on('data', read)
    server.on('exit', () => failed(new Error(`matchmaker dev ended:\n${log.join('')}`)))
  })
  test.after(async () => {
    server.kill()
    await new Promise((ended) => (server.exitCode !== null ? ended() : server.on('exit', ended)))
    rmSync(data, { recursive: true })
  })
  const mm = (...args) => execFileSync(join(bin, 'mm'), args,
    { encoding: 'utf8', env: { ...process.env, MM_DATA: data, MM_URL: url, HOME: data } })
  mm('function', 'put', 'duel', join(bin, 'functions/duel.zip'))
  for (const [queue, more] of [['duel', {}], ['asked', { acceptance: { seconds: 20 } }]]) {
    const file = join(data, `${queue}.json`)
    const matchmaking = { targetFunction: { name: 'duel' }, config: { attribute: 'skill', window: 100 } }
    const hosting = { Profile: 'default', FleetId: 'local' }
    writeFileSync(file, JSON.stringify({ matchmaking, queue, hosting, seats: true, ...more }))
    mm('config', 'put', queue, file)
  }
  const settings = join(data, 'settings.json')
  writeFileSync(settings, JSON.stringify({ tickets: { listed: true, refuseUnserved: true } }))
  mm('project', 'settings', 'set', settings)
  /** What a player's Matchmaker is made with. */
  const options = (player, more) =>
    ({ url, project: 'demo', token: () => mm('token', 'player', player).trim(), ...more })
  return { options, mm }
}
