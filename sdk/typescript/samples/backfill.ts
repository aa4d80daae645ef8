// A game server with one free place: MM_TOKEN=$(mm token server) node backfill.js 127.0.0.1:7000
import { api, Matchmaker, MatchmakingError } from '@matchmaker/client'

const { MM_URL: url = '', MM_PROJECT: project = '', MM_TOKEN = '' } = process.env
const token = async (why: string) => // the first is its allocation's: no other is renewed
  why === 'first' ? MM_TOKEN : (await service.send(api.renewServerToken()))!.token
const service: Matchmaker = new Matchmaker({ url, project, token })
const game: api.BackfillRequest = {
  Connection: process.argv[2] ?? null, queue: 'games', attributes: { open: 1, skill: 1200 },
}
const create = async () => (await service.send(api.createBackfill(game)))!.Id
let id = await create()
const joined = new Set<string>()
while (joined.size === 0) {
  await new Promise((resolve) => setTimeout(resolve, 1000))
  try {
    const { assignedTickets } = (await service.send(api.approveBackfill(id)))!
    for (const ticket of assignedTickets ?? []) {
      if (joined.has(ticket.id)) continue // an answer says it again, in case that the one before was lost
      joined.add(ticket.id)
      console.log('joined', ticket.id)
    }
  } catch (e) {
    if (!(e instanceof MatchmakingError)) throw e
    console.error(e.message)
    if (e.status === 404) id = await create() // the service gave the game up while it could not be reached
  }
}
await service.send(api.deleteBackfill(id)) // it is full
