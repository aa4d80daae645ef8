// A page that searches a match, alone or in a party, and goes on after a reload.
import { browserStorage, Matchmaker, MatchmakingError, Party, Search } from '@matchmaker/client'

const $ = <T extends HTMLElement = HTMLInputElement>(id: string) => document.getElementById(id) as T
const show = (text: string) => ($('status').textContent = text)
const given = new URLSearchParams(location.search)
const matchmaker = new Matchmaker({
  url: given.get('url') ?? '',
  project: given.get('project') ?? '',
  token: () => location.hash.slice(1),           // a game asks its own backend
  storage: browserStorage('search', localStorage), // a reload, or a crash, goes on
})
let search: Search | undefined
let party: Party | undefined
const own = () => ({ attributes: { skill: $('skill').valueAsNumber } })

async function follow(of: Search): Promise<void> {
  search = of
  for await (const u of of) {
    if (u.state === 'searching') show(u.estimate ? `Searching, about ${u.estimate.high / 1000} s` : 'Searching')
    if (u.state === 'offered') show(`Accept? ${u.accepted} of ${u.players} have`)
    if (u.state === 'preparing') show('The server is prepared')
    if (u.state === 'matched') show(`Play at ${u.match.connection}`)
    if (u.state === 'cancelled') show('Cancelled')
    if (u.state === 'failed') show(u.error.playerMessage)
  }
}

async function followParty(of: Party): Promise<void> {
  party = of
  for await (const u of of) {
    $('code').textContent = u.state === 'left' ? '' : u.party.code
    $('members').textContent = u.party.members.map((m) => m.id).join(', ')
    if (u.state === 'search') void follow(u.search)
    if (u.state === 'left') show('The party is over')
  }
}

const actions: Record<string, () => unknown> = {
  search: () => follow(matchmaker.search(own())),
  cancel: () => search?.cancel(),
  accept: () => search?.accept(),
  decline: () => search?.decline(),
  create: async () => void followParty(await matchmaker.createParty(own())),
  enter: async () => void followParty(await matchmaker.joinParty($('join').value, own())),
  start: () => party?.start(own()),
  measure: async () => {
    const all = await matchmaker.measure()
    $('regions').textContent = all.map((l) => `${l.region}: ${l.rtt?.toFixed(1) ?? '–'} ms`).join(', ')
  },
}
for (const [id, act] of Object.entries(actions)) {
  $(id).onclick = async () => {
    try {
      await act()
    } catch (e) {
      if (!(e instanceof MatchmakingError)) throw e
      show(e.playerMessage)
    }
  }
}
document.onvisibilitychange = () => (document.hidden ? matchmaker.suspend() : matchmaker.resume())

const before = await matchmaker.restore()
if (before) void follow(before)
const was = await matchmaker.party()
if (was) void followParty(was)
