// Searches a match: MM_TOKEN=$(mm token player ada) node simple.js 1200
import { Matchmaker } from '@matchmaker/client'

const { MM_URL: url = '', MM_PROJECT: project = '', MM_TOKEN = '' } = process.env
const matchmaker = new Matchmaker({ url, project, token: () => MM_TOKEN }) // a game asks its own backend
const search = matchmaker.search({ attributes: { skill: Number(process.argv[2]) } })
process.once('SIGINT', () => search.cancel())
for await (const update of search) {
  console.log(update.state)
  if (update.state === 'failed') console.error(update.error.playerMessage)
}
const { connection } = await search.match
console.log('connection', connection)
