// Pages that are served beside nothing else: another origin than the service's.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

const types = { html: 'text/html', js: 'text/javascript' }

/** Serves what is built, and returns its origin. */
export async function pages(test) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, 'http://pages').pathname
    try {
      const text = await readFile(`dist${path}`)
      response.writeHead(200, { 'Content-Type': types[path.split('.').at(-1)] }).end(text)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  test.after(() => server.close())
  return `http://127.0.0.1:${server.address().port}`
}
