// The samples of all languages, as programs on a real service, and the page in two real browsers.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test from 'node:test'
import { chromium } from 'playwright-core'
import { Matchmaker } from '@matchmaker/client'
import { pages } from './pages.mjs'
import { bin, start } from './service.mjs'

/** How a language's sample is called; % is its name. */
const languages = {
  TypeScript: 'node dist/samples/%.js', Go: join(bin, 'samples/%'), 'C++': join(bin, 'cpp/g++/samples/%'),
  'C#': `mono ${join(bin, 'csharp/%.exe')}`,
  Godot: `godot3-server --path ${join(bin, 'godot3')} -s ${resolve('../godot/test/sample.gd')}`,
}

const patience = { timeout: 120_000 }

const origin = await pages(test)
const { url, options, mm, config, file } = await start(test, { origins: origin })
mm('function', 'put', 'arena', join(bin, 'functions/arena.zip'))
for (const name of ['open', 'local']) config(name)
config('games', {}, 'arena')

/** A folder of a player's own. */
function home(sample) {
  const folder = mkdtempSync(join(tmpdir(), `${sample}-`))
  test.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Runs a sample. `line` is what stands behind a word at the beginning of a line, as soon as it is printed. */
function run(language, sample, token, ...args) {
  const [command, ...more] = languages[language].replace('%', sample).split(' ')
  const env = { ...process.env, MM_URL: url, MM_PROJECT: 'demo', MM_TOKEN: token.trim() }
  if (language === 'Godot') Object.assign(env, { SAMPLE: sample, SAMPLE_ARGUMENT: args[0] ?? '', HOME: home(sample) })
  const child = spawn(command, language === 'Godot' ? more : [...more, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  test.after(() => child.kill('SIGKILL'))
  let printed = ''
  const readers = new Set()
  for (const of of [child.stdout, child.stderr]) {
    of.setEncoding('utf8').on('data', (text) => {
      printed += text
      for (const read of readers) read()
    })
  }
  const ended = new Promise((resolve) => child.on('close', (code) => {
    resolve(code)
    for (const read of readers) read(code)
  }))
  const line = (word) => new Promise((found, failed) => {
    const read = (code) => {
      const [, rest] = new RegExp(`^${word}\\b *(.*)\\n`, 'm').exec(printed) ?? []
      if (rest !== undefined) found(rest)
      else if (code !== undefined) failed(new Error(`${sample} in ${language} ended with ${code}:\n${printed}`))
    }
    readers.add(read)
    read()
    ended.then(read)
  })
  return { line, ended, kill: () => child.kill('SIGKILL') }
}

const player = (name) => mm('token', 'player', name)
const connection = (of) => of.line('connection')

for (const language of Object.keys(languages)) {
  const play = (sample, name, ...args) => run(language, sample, player(name), ...args)

  test(`${language}: simple`, patience, async () => {
    const [a, b] = await Promise.all(['ada', 'bob'].map((p) => connection(play('simple', p, '1200'))))
    assert.ok(a)
    assert.equal(a, b)
  })

  test(`${language}: party`, patience, async () => {
    const ada = play('party', 'ada')
    const bob = play('party', 'bob', await ada.line('code'))
    const [a, b, c] = await Promise.all([ada, bob, play('simple', 'cyd', '1200')].map(connection))
    assert.ok(a)
    assert.deepEqual([b, c], [a, a])
    mm('party', 'leave', '--player', 'ada')
    mm('party', 'leave', '--player', 'bob')
  })

  test(`${language}: regions`, patience, async () => {
    const both = ['ada', 'bob'].map((p) => play('regions', p, 'local'))
    assert.match(await both[0].line('region'), /^local /)
    const [a, b] = await Promise.all(both.map(connection))
    assert.equal(a, b)
  })

  test(`${language}: backfill`, patience, async () => {
    const server = run(language, 'backfill', mm('token', 'server'), '192.0.2.1:7000')
    const search = new Matchmaker(options('ada')).search({ queues: ['games'], attributes: { skill: 1200 } })
    assert.equal((await search.match).connection, '192.0.2.1:7000')
    assert.equal(await server.line('joined'), await search.ticket())
    if (language === 'Godot') await server.line('full') // it is a scene, which stays
    else assert.equal(await server.ended, 0)
  })

  test(`${language}: reconnect`, patience, async () => {
    const rae = `rae of ${language}` // who has no earlier match
    const kept = file(`${language}.search`, '')
    const first = play('reconnect', rae, kept)
    await first.line('(waiting|searching)')
    first.kill()
    await first.ended
    const again = play('reconnect', rae, kept)
    const [a, b] = await Promise.all([again, play('simple', 'bob', '1200')].map(connection))
    assert.ok(a)
    assert.equal(a, b)
    assert.equal(await connection(play('reconnect', rae, kept)), a)
  })
}

test('the page, in two browsers of another origin than the service\'s', patience, async () => {
  const executablePath = execFileSync('sh', ['-c', 'command -v chromium || command -v google-chrome']).toString().trim()
  const asked = new Set()
  const open = async (name) => {
    const browser = await chromium.launch({ executablePath })
    test.after(() => browser.close())
    const page = await browser.newPage()
    page.setDefaultTimeout(60_000)
    page.on('request', (request) => asked.add(new URL(request.url()).hostname))
    const address = `${origin}/samples/page/index.html?${new URLSearchParams({ url, project: 'demo' })}`
    await page.goto(`${address}#${player(name).trim()}`)
    return page
  }
  /** Waits until an element says something, and returns it. */
  const says = async (page, id, pattern) => {
    const element = page.locator(`#${id}`, { hasText: pattern })
    await element.waitFor()
    return element.textContent()
  }
  const [kim, lee] = [await open('kim'), await open('lee')]
  await kim.click('#create')
  await lee.fill('#join', await says(kim, 'code', /\w/))
  await lee.click('#enter')
  await says(kim, 'members', 'kim, lee')
  await kim.click('#start')
  await Promise.all([kim, lee].map((page) => says(page, 'status', 'Searching')))

  await lee.reload() // it goes on with the search, and is in the party
  await Promise.all([says(lee, 'status', 'Searching'), says(lee, 'members', 'kim, lee')])
  const { connection } = await new Matchmaker(options('max')).search({ attributes: { skill: 1200 } }).match
  for (const page of [kim, lee]) assert.equal(await says(page, 'status', 'Play'), `Play at ${connection}`)
  await kim.reload() // it goes back into its match
  assert.equal(await says(kim, 'status', 'Play'), `Play at ${connection}`)

  await kim.click('#measure') // a beacon, by HTTP
  assert.match(await says(kim, 'regions', 'local'), /^local: \d+\.\d ms/)
  assert.deepEqual([...asked], ['127.0.0.1'])

  // A page of an origin that the service does not name reads nothing.
  await kim.goto(origin.replace('127.0.0.1', 'localhost') + '/samples/page/index.html')
  const readable = (page) => page.evaluate((of) => fetch(of).then(() => true, () => false),
    `${url}/demo/matchmaking/api/v1/tickets`)
  assert.deepEqual([await readable(lee), await readable(kim)], [true, false])
})
