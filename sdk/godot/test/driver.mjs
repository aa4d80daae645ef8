// Passes lines between the conformance programme and driver.gd, and an empty line each second: Godot ends when none comes.
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'

const server = createServer((socket) => {
  process.stdin.pipe(socket)
  socket.pipe(process.stdout)
  setInterval(() => socket.write('\n'), 1000)
  socket.on('close', () => process.exit(0))
  socket.on('error', () => process.exit(0))
}).listen(0, '127.0.0.1', () => {
  const env = { ...process.env, DRIVER_PORT: String(server.address().port), LANG: 'en_US.UTF-8', HOME: process.argv[2] }
  const godot = spawn('godot3-server', ['--path', process.argv[2], '-s', process.argv[3]], {
    env, stdio: ['ignore', 'ignore', 'pipe'],
  })
  godot.stderr.setEncoding('utf8').on('data', (text) => {
    if (/SCRIPT ERROR|Parse Error/.test(text)) process.stderr.write(text)
  })
  godot.on('exit', () => process.exit(0))
})
