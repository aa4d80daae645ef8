// Searches a match, and after a crash goes on with the same search or match, which a file remembers:
// MM_TOKEN=$(mm token player ada) node reconnect.js search.json
import { readFile, rename, writeFile } from 'node:fs/promises'
import { Matchmaker } from '@matchmaker/client'

const { MM_URL: url = '', MM_PROJECT: project = '', MM_TOKEN = '' } = process.env
const file = process.argv[2] ?? 'search.json'
const storage = { // in a browser: browserStorage()
  load: () => readFile(file, 'utf8').catch(() => null),
  save: async (text: string | null) => {
    await writeFile(`${file}.new`, text ?? '')
    await rename(`${file}.new`, file) // a crash leaves what was there, or this
  },
}
const matchmaker = new Matchmaker({ url, project, token: () => MM_TOKEN, storage })
const search = (await matchmaker.restore()) ?? matchmaker.search({ attributes: { skill: 1200 } })
for await (const update of search) console.log(update.state)
const { connection } = await search.match
console.log('connection', connection)
// When the match is over: await matchmaker.forget()
