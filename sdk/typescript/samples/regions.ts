// Measures how far the regions are, lets the player pick one, and searches a match in its queue:
// MM_TOKEN=$(mm token player ada) node regions.js eu-west
import { Matchmaker } from '@matchmaker/client'
import { udp } from '@matchmaker/client/node' // not in a browser, which measures by HTTP

const { MM_URL: url = '', MM_PROJECT: project = '', MM_TOKEN = '' } = process.env
const matchmaker = new Matchmaker({ url, project, token: () => MM_TOKEN, udp })
const receipts = await matchmaker.measure() // kept: another call measures only when they are old
for (const { region, rtt, sent, lost } of receipts) console.log('region', region, rtt, `${lost} of ${sent} lost`)
const [region] = process.argv.slice(2)
if (region) {
  const { connection } = await matchmaker.search({ queues: [region], receipts, attributes: { skill: 1200 } }).match
  console.log('connection', connection)
}
