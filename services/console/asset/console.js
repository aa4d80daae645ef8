// Keeps live pages live, shows times in the viewer's zone, and uploads files that are dropped. Pages work without it.
'use strict'
const live = document.getElementById('live')
const connection = document.getElementById('connection')

function localize(root) {
  const two = '2-digit'
  const long = { day: 'numeric', month: 'short', hour: two, minute: two, second: two, hourCycle: 'h23' }
  for (const e of root.querySelectorAll('time')) {
    const at = new Date(e.dateTime)
    e.textContent = at.toLocaleString('en-GB', long)
    e.title = at.toISOString()
  }
  for (const e of root.querySelectorAll('[data-time]')) {
    e.textContent = new Date(e.dataset.time).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
  }
}

// tell writes an answer, for which the page is not replaced for a minute, or until the next one.
let readUntil = 0
function tell(said, text, last = true) {
  said.textContent = text
  readUntil = last ? Date.now() + 60000 : Infinity
}

// A page is not replaced under somebody who selects text, types, chooses a file, or reads an answer there.
function busy() {
  const selection = getSelection()
  const at = document.activeElement
  return (selection && !selection.isCollapsed && live.contains(selection.anchorNode)) ||
    (at && live.contains(at) && /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)) ||
    Date.now() < readUntil ||
    [...live.querySelectorAll('input:not([type=hidden], [type=range])')].some(i =>
      i.type === 'checkbox' ? i.checked : i.value !== i.defaultValue)
}

function replace(html) {
  const at = document.activeElement
  const places = [...live.querySelectorAll('.scroll, .log')].map(e => [e.scrollLeft, e.scrollTop])
  const index = at && live.contains(at) ? [...live.querySelectorAll('a, button, [tabindex]')].indexOf(at) : -1
  const next = new DOMParser().parseFromString(html, 'text/html')
  localize(next)
  live.replaceChildren(...next.body.childNodes)
  live.querySelectorAll('.scroll, .log').forEach((e, i) => places[i] && e.scrollTo(...places[i]))
  if (index >= 0) live.querySelectorAll('a, button, [tabindex]')[index]?.focus({ preventScroll: true })
}

function say(text, state) {
  if (connection.textContent !== text) connection.textContent = text
  connection.className = 'connection ' + state
}

function follow() {
  const events = new EventSource(location.href)
  events.onopen = () => say('Live', 'on')
  events.addEventListener('page', e => { if (!busy()) replace(JSON.parse(e.data)) })
  events.addEventListener('reconnect', e => {
    if (JSON.parse(e.data).reason !== 'token') return
    events.close()
    say('Your session has ended', 'off')
    location.reload()
  })
  events.onerror = async () => {
    say('Reconnecting …', 'off')
    if (events.readyState !== EventSource.CLOSED) return
    // It does not say why it was closed. The answer to a viewer without a session has no content.
    const answer = await fetch(location.href, { headers: { Accept: 'text/event-stream' } }).catch(() => null)
    if (answer?.status === 204) return say('Your session has ended: sign in again', 'off')
    answer?.body?.cancel()
    setTimeout(follow, 2000 + 1000 * Math.random())
  }
}

async function send(box, file) {
  const said = box.querySelector('.said')
  const name = box.dataset.name || box.querySelector('[name=name]').value.trim() || file.name.replace(/\..*$/, '')
  const note = box.querySelector('[name=note]').value
  const shadow = box.querySelector('[name=shadow]').checked
  const how = shadow ? 'in the shadow' : 'for all its configs'
  if (!confirm(`Upload ${file.name} as the function ${name}, which runs it ${how}?`)) return
  tell(said, `Uploading ${file.name} …`, false)
  try {
    const answer = await fetch(`${box.dataset.upload}?${new URLSearchParams({ name, note, shadow })}`, {
      method: 'PUT', body: file,
      headers: { 'X-CSRF-Token': box.dataset.csrf, 'Content-Type': 'application/octet-stream' },
    })
    const text = await answer.text()
    if (answer.ok) location.href = text
    else tell(said, text)
  } catch {
    tell(said, 'The connection was lost. Try again.')
  }
}

// A config is checked as it is typed, as the service would check it before it is put.
let typed = 0
async function check(form) {
  const now = ++typed
  await new Promise(done => setTimeout(done, 600))
  const body = new FormData(form)
  if (now !== typed || !body.get('id')) return
  let text, bad = true
  try {
    const answer = await fetch(form.action, { method: 'POST', body })
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const differ = page.querySelectorAll('.diff tbody tr').length
    const warnings = [...page.querySelectorAll('main .warn')].map(e => '\n' + e.textContent)
    bad = !answer.ok || answer.redirected
    text = answer.redirected ? 'Your session has ended.' : bad ? page.querySelector('[role=alert]').textContent
      : 'The service would take it. Values that differ from what is stored: ' + differ + '.' + warnings.join('')
  } catch {
    text = 'It cannot be checked now.'
  }
  if (now !== typed) return
  const said = form.querySelector('.said')
  tell(said, text)
  said.classList.toggle('bad', bad)
}

// The members of a config, as the description of the API has them.
const editor = document.querySelector('.editor')
const members = []
async function help() {
  const { components: { schemas } } = await (await fetch('/console/-/asset/openapi.json')).json()
  const add = (schema, path) => {
    const of = schema?.$ref ? schemas[schema.$ref.split('/').pop()] : schema
    if (of?.items) return add(of.items, path + '[]')
    if (of?.additionalProperties) return add(of.additionalProperties, path + '.NAME')
    for (const [name, one] of Object.entries(of?.properties || {})) {
      const at = (path + '.' + name).replace(/^\./, '')
      const text = one.description || schemas[one.$ref?.split('/').pop()]?.description || ''
      members.push({ name, at, text })
      add(one, at)
    }
  }
  add(schemas.Config, '')
  for (const m of members) {
    const row = editor.querySelector('.members').appendChild(document.createElement('div'))
    row.appendChild(document.createElement('dt')).appendChild(document.createElement('code')).textContent = m.at
    row.appendChild(document.createElement('dd')).textContent = m.text
  }
}
if (editor) help()

// The help for the member before the cursor.
document.addEventListener('selectionchange', () => {
  const at = document.activeElement
  if (at?.id !== 'text') return
  const names = at.value.slice(0, at.selectionEnd).match(/"(\w+)"\s*:/g) || []
  const name = names.pop()?.replace(/\W/g, '')
  const found = members.find(m => m.name === name)
  editor.querySelector('.here').textContent = found ? found.at + ': ' + found.text : ''
})

const boxOf = e => e.target.closest?.('.drop')
addEventListener('dragover', e => { e.preventDefault(); boxOf(e)?.classList.add('over') })
addEventListener('dragleave', e => boxOf(e)?.classList.remove('over'))
addEventListener('drop', e => {
  e.preventDefault()
  boxOf(e)?.classList.remove('over')
  if (boxOf(e) && e.dataTransfer.files[0]) send(boxOf(e), e.dataTransfer.files[0])
})
addEventListener('click', e => {
  const box = e.target.matches('.drop button') && boxOf(e)
  if (!box) return
  const file = box.querySelector('[type=file]').files[0]
  if (file) send(box, file)
  else tell(box.querySelector('.said'), 'Choose a file first, or drop one here.')
})
addEventListener('input', e => {
  if (e.target.form?.matches('.editor')) check(e.target.form)
  const shown = e.target.type === 'range' && e.target.form.querySelector('output')
  if (shown) shown.value = e.target.value
})
addEventListener('keydown', e => {
  if (e.key !== '/' || /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) return
  e.preventDefault()
  document.querySelector('.find input')?.focus()
})

localize(document)
if (document.body.hasAttribute('data-live')) follow()
