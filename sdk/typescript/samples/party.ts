// Makes a party of two, or joins it by its code, and searches a match for both:
// MM_TOKEN=$(mm token player ada) node party.js and then MM_TOKEN=$(mm token player bob) node party.js CODE
import { Matchmaker } from '@matchmaker/client'

const { MM_URL: url = '', MM_PROJECT: project = '', MM_TOKEN = '' } = process.env
const matchmaker = new Matchmaker({ url, project, token: () => MM_TOKEN })
const [code] = process.argv.slice(2)
const own = { attributes: { skill: 1200 } }
const party = code ? await matchmaker.joinParty(code, own) : await matchmaker.createParty({ size: 2, ...own })
console.log('code', party.code)
let matched = false
for await (const update of party) {
  if (update.state === 'party' && party.leads && update.party.members.length === 2 && !party.search) {
    await party.start(own)
  }
  if (update.state === 'search') {
    const { connection } = await update.search.match // all members follow the same ticket
    console.log('connection', connection)
    matched = true
  }
  // The party forgets its search when a member leaves: the leader leaves last, so that all have seen it.
  const last = !party.leads || party.state.members.length === 1
  if (matched && last && update.state !== 'left') await party.leave()
}
