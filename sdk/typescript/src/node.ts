/** What the client can do in Node alone. */
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import type { OpenUDP, Socket } from './latencies.js'

export type { OpenUDP, Socket } from './latencies.js'

/** Measures latencies by UDP: new Matchmaker({ udp, … }). */
export const udp: OpenUDP = async (address) => {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? []
  const found = await lookup(host, { all: true })
  const chosen = [4, 6].flatMap((family) => found.find((a) => a.family === family) ?? [])
  return (await Promise.all(chosen.map(({ address: ip, family }) => new Promise<Socket[]>((resolve) => {
    const socket = createSocket(family === 4 ? 'udp4' : 'udp6')
    const left = () => { // the device has no way to addresses of this family
      socket.close()
      resolve([])
    }
    const own: Socket = {
      send: (datagram) => socket.send(datagram),
      receive: () => {},
      fail: left,
      close: () => socket.close(),
    }
    socket.on('message', (datagram) => own.receive(datagram))
    socket.on('error', (e) => own.fail(e))
    socket.connect(Number(port), ip, (e) => {
      if (e) return left()
      own.fail = () => {}
      resolve([own])
    })
  })))).flat()
}
