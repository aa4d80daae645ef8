// Searches a match: TOKEN=$(mm token player ada) node simple.mjs skill=1200
import { Matchmaker } from '@matchmaker/client'

const { URL = 'http://127.0.0.1:8080', PROJECT = 'demo', TOKEN } = process.env
const matchmaker = new Matchmaker({ url: URL, project: PROJECT, token: () => TOKEN })
const attributes = Object.fromEntries(process.argv.slice(2).map((a) => a.split('=')).map(([n, v]) => [n, Number(v)]))

const search = matchmaker.search({ attributes })
process.once('SIGINT', () => search.cancel())
for await (const update of search) console.log(update.state)
const { connection } = await search.match.catch((e) => (console.error(e.playerMessage), process.exit(1)))
console.log('connection', connection)
