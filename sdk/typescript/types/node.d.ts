// What the client uses of Node.
declare module 'node:dgram' {
  export interface Socket {
    connect(port: number, host: string, then: (e?: Error) => void): void
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

// What the samples do besides.
declare const process: {
  argv: string[]
  env: Record<string, string | undefined>
  once(signal: 'SIGINT', f: () => void): void
}

declare module 'node:fs/promises' {
  export function readFile(name: string, encoding: 'utf8'): Promise<string>
  export function writeFile(name: string, text: string): Promise<void>
  export function rename(from: string, to: string): Promise<void>
}
