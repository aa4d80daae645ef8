// What the client uses of Node.
declare module 'node:dgram' {
  export interface Socket {
    connect(port: number, host: string, then: () => void): void
    send(datagram: Uint8Array): void
    on(event: 'message', f: (datagram: Uint8Array) => void): void
    on(event: 'error', f: (e: Error) => void): void
    close(): void
  }
  export function createSocket(type: 'udp4' | 'udp6'): Socket
}

declare module 'node:dns/promises' {
  export function lookup(host: string, o: { all: true }): Promise<Array<{ address: string; family: number }>>
}
