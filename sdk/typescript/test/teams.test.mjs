// Five against five: players in C++, C#, Go, TypeScript and a browser get the same game, whose server in Go fills it up.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import test from 'node:test'
import { chromium } from 'playwright-core'
import { Matchmaker } from '@matchmaker/client'
import { pages } from './pages.mjs'
import { bin, start } from './service.mjs'

const origin = await pages(test)
const { url, options, mm, config } = await start(test, { origins: origin })
for (const name of ['rules', 'arena']) mm('function', 'put', name, join(bin, `functions/${name}.zip`))
const matchmaking = {
  targetFunction: { name: 'rules' },
  config: {
    numbers: ['skill'], teams: [{ name: 'team', copies: 2, size: 5 }],
    rules: [{ name: 'similar', spread: 'skill', max: 500 }],
  },
}
config('open', { matchmaking })
config('games', {}, 'arena') // fills running games

/** What a sample prints behind a word. */
function play(token, word, command, ...args) {
  const env = { ...process.env, MM_URL: url, MM_PROJECT: 'demo', MM_TOKEN: token.trim() }
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  test.after(() => child.kill('SIGKILL'))
  let printed = ''
  return new Promise((found, failed) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text
      const rest = new RegExp(`^${word} (.*)\\n`, 'm').exec(printed)?.[1]
      if (rest !== undefined) found(rest)
    })
    child.on('close', () => failed(new Error(`${command} ended:\n${printed}`)))
  })
}
const player = (name) => mm('token', 'player', name)

test('five against five, in all languages', { timeout: 120_000 }, async () => {
  const executablePath = execFileSync('sh', ['-c', 'command -v chromium || command -v google-chrome']).toString().trim()
  const browser = await chromium.launch({ executablePath })
  test.after(() => browser.close())
  const page = await browser.newPage()
  const address = new URLSearchParams({ url, project: 'demo' })
  await page.goto(`${origin}/samples/page/index.html?${address}#${player('web').trim()}`)
  await page.fill('#skill', '1200')
  await page.click('#search')

  const samples = [
    play(player('cpp'), 'connection', join(bin, 'cpp/g++/samples/simple'), '1200'),
    play(player('csharp'), 'connection', 'mono', join(bin, 'csharp/simple.exe'), '1200'),
    play(player('go'), 'connection', join(bin, 'samples/simple'), '1200'),
  ]
  const six = [1, 2, 3, 4, 5, 6].map((n) => new Matchmaker(options(`ts${n}`)).search({ attributes: { skill: 1200 + n } }))
  const matches = await Promise.all(six.map((search) => search.match))
  const { connection } = matches[0]
  assert.deepEqual(await Promise.all(samples), [connection, connection, connection])
  assert.deepEqual(matches.map((m) => m.connection), Array(6).fill(connection))
  const status = page.locator('#status', { hasText: 'Play' })
  await status.waitFor()
  assert.equal(await status.textContent(), `Play at ${connection}`)

  // A player leaves, and the server has a place.
  const server = play(mm('token', 'server'), 'joined', join(bin, 'samples/backfill'), connection)
  const late = new Matchmaker(options('late')).search({ queues: ['games'], attributes: { skill: 1250 } })
  assert.equal((await late.match).connection, connection)
  assert.equal(await server, await late.ticket())
})
