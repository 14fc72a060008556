// What the desk knows: texts as the server gave them, and the queue of acts that it has not confirmed yet.
// What is shown is always the former with the latter applied in order. No text is in an act, nor in local storage.

const DESKS = new Map()
const KEPT = "understudy.review."
const MADE = "understudy.decided."
const REMEMBERED = 500 // acts of this tab that can be taken back after a reload
const PATIENCE = 10000 // ms until an unanswered message is sent again
const AT_ONCE = 1000 // acts in one message; the others follow
const OLDEST = 12 * 3600 * 1000 // ms; older unsent acts are told, not sent
const CACHED = 40 // texts

function randomName() {
  const bytes = crypto.getRandomValues(new Uint8Array(8))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")
}

function openDesk(corpus) {
  if (!DESKS.has(corpus)) {
    const desk = {
      corpus, client: randomName(), seq: 0, outbox: [], history: past(corpus), sheets: new Map(), current: null,
      span: null, next: [], rows: [], n: 0, flight: null, ask: false, page: null, notes: new Map(), told: "", went: -1,
      same: {}, alike: null, counts: {}, clients: new Set(), redraw: null, held: null, path: "", views: new Map(), lines: new Map(), view: "original",
      see: null, only: false, // what is asked to be listed, and whether only texts are with what points at one person
    }
    DESKS.set(corpus, desk)
    desk.clients.add(desk.client)
    live(desk, desk.client, () => {})
    recover(desk)
  }
  return DESKS.get(corpus)
}

// A page load holds a lock of its name while it lives, so that another takes over what it left and not what it does.
// Where a browser has no locks, every other page load counts as gone.
function live(desk, client, then) {
  const held = () => { then(); return new Promise(() => {}) }
  if (navigator.locks) navigator.locks.request(`${KEPT}${desk.corpus}.${client}`, held).catch(() => {})
  else then()
}

// Unsent acts survive a reload: this page load takes over what earlier ones left, each once it is gone.
function recover(desk) {
  const head = `${KEPT}${desk.corpus}.`
  try {
    for (const key of Object.keys(localStorage).filter((one) => one.startsWith(head)))
      live(desk, key.slice(head.length), () => adopt(desk, key))
  } catch (error) { /* storage is off: nothing was kept */ }
}

function adopt(desk, key) {
  let found = []
  try { found = JSON.parse(localStorage.getItem(key)) || [] } catch (error) { /* not ours, or cut short */ }
  const young = found.filter((act) => Date.now() - act.at < OLDEST)
  for (const act of found) desk.clients.add(act.client)
  desk.outbox = [...young, ...desk.outbox].sort((a, b) => a.at - b.at || a.seq - b.seq)
  const lost = found.length - young.length
  if (young.length) desk.told = sayMany("{n} decision from before the page was opened again: being stored.",
    "{n} decisions from before the page was opened again: being stored.", young.length)
  if (lost) desk.told += ` ${sayMany("{n} decision of an earlier day was never stored and not sent again.",
    "{n} decisions of an earlier day were never stored and not sent again.", lost)}`
  keep(desk)
  if (desk.redraw) desk.redraw()
}

function keep(desk) {
  desk.views.clear()
  try {
    for (const client of desk.clients) {
      const mine = desk.outbox.filter((act) => act.client === client)
      const key = `${KEPT}${desk.corpus}.${client}`
      if (mine.length) localStorage.setItem(key, JSON.stringify(mine.map(({ prior, ...act }) => act)))
      else localStorage.removeItem(key)
    }
    const made = desk.history.slice(-REMEMBERED).map(({ client, seq, record, span }) => ({ client, seq, record, span }))
    sessionStorage.setItem(`${MADE}${desk.corpus}`, JSON.stringify(made))
  } catch (error) { /* storage is full or off: the queue still lives in this page */ }
}

// What was decided in this tab, for its undo; it outlives a reload and stays in the tab.
function past(corpus) {
  try { return JSON.parse(sessionStorage.getItem(`${MADE}${corpus}`)) || [] } catch (error) { return [] }
}


const copied = (sheet) => ({ ...sheet, spans: sheet.spans.map((span) => ({ ...span })) })

// A text with every unconfirmed act applied, or null where it has not come yet; made once until an act or an answer
// changes something, which both `keep`. Whoever gets it changes nothing in it.
function seen(desk, record) {
  const base = desk.sheets.get(record)
  if (!base) return null
  const known = desk.views.get(record)
  if (known) return known
  const sheet = copied(base)
  for (const act of desk.outbox) applyAct(sheet, act)
  sheet.spans.sort((a, b) => a.start - b.start || a.end - b.end)
  desk.views.set(record, sheet)
  return sheet
}

function settle(span, what, label) {
  span.decided = true
  if (what === "review") return
  span.state = what === "reject" ? "rejected" : "accepted"
  if (what === "relabel" && label) span.label = label
}

function place(sheet, act, at, label, value, index) {
  const there = sheet.spans.some((s) => s.start === at[0] && s.end === at[1] && s.label === label)
  if (there) return
  const id = index === 0 ? `new-${act.client}-${act.seq}` : `${act.client}-${act.seq}-${index}`
  sheet.spans.push({
    id, start: at[0], end: at[1], label, score: 1, who: "custodian", state: "accepted", decided: true, value,
    temporary: index !== 0,
  })
}

function markFree(sheet, act, span) {
  const free = sheet.free[`${act.value || span.value}.${act.old || span.label}`] || []
  free.forEach((at, index) => place(sheet, act, at, act.old || span.label, act.value || span.value, index + 1))
}

function applyAct(sheet, act) {
  const [what, where] = act.action.split(" ")
  if (what === "undo") return takeBack(sheet, act)
  if (what === "add") {
    if (act.record === sheet.id) act.places.forEach((at, index) => place(sheet, act, at, act.label, "", index))
    return
  }
  if (what === "finish" || where === "text") {
    if (act.record !== sheet.id) return
    for (const span of sheet.spans) if (!span.decided) settle(span, what === "finish" ? "review" : what)
    if (what === "finish") sheet.reviewed = true
    return
  }
  const own = sheet.spans.find((span) => span.id === act.span)
  const like = (span) => span.value && span.value === act.value && span.label === act.old
  if (where === "alike") {
    const chosen = sheet.spans.filter((span) => span.id === act.span || (like(span) && (act.again || !span.decided)))
    chosen.forEach((span) => settle(span, what, act.label))
    if (what === "accept" && act.same && act.value) markFree(sheet, act, own || act)
    return
  }
  if (!own) return
  if (what === "accept" && act.same) {
    markFree(sheet, act, own)
    for (const span of sheet.spans) if (like(span) && !span.decided) settle(span, what)
  }
  settle(own, what, act.label)
}

// Give places back what counted before the act that is taken back; it goes into the act when it is made.
function takeBack(sheet, act) {
  const before = (act.prior || {})[sheet.id]
  if (!before) return
  sheet.reviewed = before.reviewed
  sheet.spans = sheet.spans.filter((span) => {
    const was = before.spans.find((other) => other.id === span.id)
    if (was) Object.assign(span, { state: was.state, decided: was.decided, label: was.label })
    return was || !before.added.some((at) => at[0] === span.start && at[1] === span.end && at[2] === span.label)
  })
}

// The texts whose state before an act its undo needs: all where the same words count anywhere, else the open one.
function touched(desk, made) {
  if (made.action === "undo") return []
  if (made.action.endsWith(" alike")) return [...desk.sheets.keys()]
  return desk.sheets.has(desk.current) ? [desk.current] : []
}

// Add an act to the queue and remember what it changes, for its undo.
function act(desk, values) {
  const sheet = desk.sheets.get(desk.current)
  const made = {
    client: desk.client, seq: ++desk.seq, at: Date.now(), upon: sheet ? sheet.upon : 0,
    beside: [...desk.clients].filter((one) => one !== desk.client), ...values,
  }
  const prior = {}
  for (const id of touched(desk, made)) {
    const before = seen(desk, id)
    const after = copied(before)
    applyAct(after, made)
    const known = new Set(before.spans.map((span) => span.id))
    const changed = before.spans.filter((span) => {
      const now = after.spans.find((other) => other.id === span.id)
      return now && (now.state !== span.state || now.decided !== span.decided || now.label !== span.label)
    })
    const added = after.spans.filter((span) => !known.has(span.id)).map((span) => [span.start, span.end, span.label])
    if (changed.length || added.length || before.reviewed !== after.reviewed)
      prior[id] = { spans: changed, added, reviewed: before.reviewed }
  }
  desk.outbox.push(made)
  if (made.action !== "undo") desk.history.push({ client: made.client, seq: made.seq, prior, record: desk.current, span: desk.span })
  keep(desk)
  return made
}

// Take back the latest decision of this tab; never one that was made elsewhere.
function undoLast(desk) {
  const last = desk.history.pop()
  if (!last) {
    desk.told = say("Nothing was decided since this page was opened that could be taken back here. Earlier decisions stand and can be changed.")
    return
  }
  act(desk, { action: "undo", of: [last.client, last.seq], prior: last.prior })
  if (last.record !== desk.current) openText(desk, last.record)
  desk.span = last.span
}

// Take over what the server says: acts that are stored leave the queue, refused ones are told, texts are replaced.
function receive(desk, data) {
  const given = new Set(data.sheets.map((sheet) => sheet.id))
  const refusals = []
  for (const [client, seq, refused, span] of data.done) {
    const index = desk.outbox.findIndex((one) => one.client === client && one.seq === seq)
    if (index < 0) continue
    const [done] = desk.outbox.splice(index, 1)
    if (refused) {
      refusals.push(refused)
      desk.history = desk.history.filter((one) => one.client !== client || one.seq !== seq)
      continue
    }
    for (const [id, sheet] of desk.sheets) if (!given.has(id)) applyAct(sheet, done)
    if (span && desk.span === `new-${client}-${seq}`) desk.span = span
    if (done.action === "undo" && !done.prior) for (const id of [...desk.sheets.keys()]) if (!given.has(id)) desk.sheets.delete(id)
  }
  if (refusals.length) {
    desk.told = refusals.length === 1 ? say("Not stored: {why}.", { why: refusals[0] })
      : sayMany("{n} decision not stored. The first: {why}.", "{n} decisions not stored. The first: {why}.", refusals.length, { why: refusals[0] })
    for (const id of [...desk.sheets.keys()]) if (!given.has(id)) desk.sheets.delete(id)
    desk.ask = true
  }
  for (const sheet of data.sheets) {
    desk.sheets.delete(sheet.id)
    desk.sheets.set(sheet.id, sheet)
    if (desk.notes.get(sheet.id) === sheet.note) desk.notes.delete(sheet.id)
  }
  for (const id of [...desk.sheets.keys()].slice(0, -CACHED)) if (!given.has(id) && id !== desk.current) desk.sheets.delete(id)
  Object.assign(desk, { next: data.next, rows: data.rows, alike: data.alike, counts: data.counts, trouble: data.trouble, only: data.only })
  if (desk.flight && data.reply === desk.flight.n) desk.flight = null
  if (data.go.n !== desk.went) {
    desk.went = data.go.n
    desk.current = data.go.record
    desk.span = null
    desk.page = null
  } else if (data.go.record !== desk.current && !desk.sheets.has(desk.current)) desk.ask = true
  keep(desk)
}

// Send everything unconfirmed as one message; one at a time, again where no answer comes.
function pump(desk, send) {
  if (desk.flight && performance.now() - desk.flight.at < PATIENCE) return
  if (desk.flight) desk.ask = true
  if (!desk.outbox.length && !desk.ask && !desk.notes.size) return
  desk.ask = false
  const see = desk.see || null
  desk.see = null
  desk.flight = { n: ++desk.n, at: performance.now() }
  send({
    n: desk.n,
    acts: desk.outbox.slice(0, AT_ONCE).map(({ prior, at, old, value, ...act }) => act),
    record: desk.current,
    span: desk.span,
    page: desk.page,
    went: desk.went,
    notes: [...desk.notes],
    see,
  })
}

const finished = (desk, id) => {
  const sheet = seen(desk, id)
  return sheet ? sheet.reviewed : desk.outbox.some((one) => one.action === "finish" && one.record === id)
}

function following(desk) {
  const here = desk.next.indexOf(desk.current)
  const order = here < 0 ? desk.next : [...desk.next.slice(here + 1), ...desk.next.slice(0, here)]
  return order.find((id) => id !== desk.current && !finished(desk, id))
}

function preceding(desk) {
  const index = desk.rows.findIndex((row) => row.id === desk.current)
  return index > 0 ? desk.rows[index - 1].id : undefined
}

const lasting = (sheet) => sheet.spans.filter((span) => !span.temporary)

// The finding whose card is shown: the chosen one, else the first open one; null where all are decided.
function chosen(desk, sheet) {
  if (!sheet) return null
  const spans = lasting(sheet)
  return spans.find((span) => span.id === desk.span) || (desk.span === null && firstOpen(desk, spans)) || null
}

// The first finding that nobody decided on; where such texts are listed, one that points at a person and stays.
function firstOpen(desk, spans) {
  const open = spans.filter((span) => !span.decided)
  return (desk.only && open.find((span) => span.type === "direct" && span.state === "rejected")) || open[0]
}

function openText(desk, id) {
  desk.current = id
  desk.span = null
  desk.page = null
  desk.ask = true
}
