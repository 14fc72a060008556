// Draws the desk and reads its keys. `say.js`, `marks.js` and `desk_state.js` stand before it.
// Every decision is drawn at once from what the browser knows; sending follows behind.

function el(tag, className, text, values) {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined && text !== null) node.textContent = text
  for (const [name, value] of Object.entries(values || {})) node.setAttribute(name, value)
  return node
}

function button(words, shortcut, press, values) {
  const node = el("button", (values && values.className) || "", words, { type: "button" })
  if (shortcut) node.append(el("kbd", "", shortcut))
  node.onclick = press
  node.disabled = Boolean(values && values.disabled)
  if (values && values.name) node.dataset.act = values.name
  if (values && values.pressed !== undefined) node.setAttribute("aria-pressed", String(values.pressed))
  return node
}

// Pieces of a text, cut at code points; where findings overlap, the earlier wins.
function cutAt(text, spans, data) {
  const all = Array.from(text)
  const slice = all.length === text.length ? (a, b) => text.slice(a, b) : (a, b) => all.slice(a, b).join("")
  const parts = []
  let cursor = 0
  for (const span of spans) {
    const start = Math.max(span.start, cursor)
    const end = Math.min(span.end, all.length)
    if (start >= end) continue
    if (start > cursor) parts.push({ text: slice(cursor, start) })
    const [name, hue] = data.labels[span.label] || [span.label, 6]
    parts.push({
      text: slice(start, end), label: name, id: span.temporary ? "" : span.id, hue, strength: span.score,
      decided: span.decided, fate: span.state === "accepted" ? "goes" : "stays",
    })
    cursor = end
  }
  if (cursor < all.length) parts.push({ text: slice(cursor, all.length) })
  return { parts, slice }
}

// The text after replacement: overlapping findings become one, under the label of the longest.
function replaced(text, spans) {
  const joined = []
  for (const span of spans.filter((one) => one.state === "accepted")) {
    const last = joined[joined.length - 1]
    if (!last || span.start >= last.end) joined.push({ start: span.start, end: span.end, label: span.label })
    else {
      if (span.end - span.start > last.end - last.start) last.label = span.label
      last.end = Math.max(last.end, span.end)
    }
  }
  return joined
}

function drawAfter(area, sheet, data, slice, length) {
  const nodes = []
  let cursor = 0
  for (const span of replaced(sheet.text, sheet.spans)) {
    nodes.push(document.createTextNode(slice(cursor, span.start)))
    nodes.push(el("span", `stand hue${(data.labels[span.label] || ["", 6])[1]}`, `[${span.label}]`))
    cursor = span.end
  }
  nodes.push(document.createTextNode(slice(cursor, length)))
  area.replaceChildren(...nodes)
}

function drawBar(desk, root, data) {
  const counts = data.counts
  const part = counts.records ? counts.reviewed / counts.records : 0
  root.querySelector(".counts").textContent =
    sayMany("{read} of {n} text read · {open} of {all} findings not looked at · as it stands {go} go and {stay} stay",
      "{read} of {n} texts read · {open} of {all} findings not looked at · as it stands {go} go and {stay} stay", counts.records,
      { read: num(counts.reviewed), go: num(counts.accepted), stay: num(counts.rejected), open: num(counts.undecided),
        all: num(counts.accepted + counts.rejected) })
  root.querySelector(".fill").style.inlineSize = `${Math.round(100 * part)}%`
  const spot = root.querySelector(".spot")
  spot.textContent = `${data.spot[0]} →`
  spot.title = data.spot[1]
  drawPressing(desk, root, data)
  const waiting = desk.outbox.length
  const late = desk.flight && performance.now() - desk.flight.at > 3000
  const words = desk.trouble ? say("Not stored yet: {why}", { why: desk.trouble }) : !waiting ? say("All stored") : late
    ? sayMany("Storing {n} decision; this machine is busy, go on …", "Storing {n} decisions; this machine is busy, go on …", waiting)
    : sayMany("Storing {n} decision …", "Storing {n} decisions …", waiting)
  const status = root.querySelector(".status")
  if (status.textContent !== words) status.textContent = words
  status.dataset.waiting = String(waiting)
  status.dataset.unanswered = String(Number(desk.flight !== null))
  const told = root.querySelector(".told")
  if (told.textContent !== desk.told) told.textContent = desk.told
}

/** What points at one person and stays until somebody decides, in the whole corpus; nothing where there is none. */
function drawPressing(desk, root, data) {
  const line = root.querySelector(".pressing")
  const words = data.pressing ? sayMany("{n} finding that points at one person stays until you decide.",
    "{n} findings that point at one person stay until you decide.", data.pressing) : ""
  const sign = `${words} ${data.only} ${spoken.code}`
  if (line.dataset.sign === sign) return
  line.dataset.sign = sign
  const all = button(say("Show all texts"), "", () => desk.showing("all"), { className: "link", name: "see-all" })
  const them = button(say("See them"), "", () => desk.showing("pressing"), { className: "link", name: "see-pressing" })
  const only = el("span", "", say("Only texts with such findings are listed."))
  if (!words && !data.only) line.replaceChildren()
  else line.replaceChildren(...(words ? [el("strong", "", words)] : []), ...(data.only ? [only, all] : [them]))
}

/** What a text's open findings add up to, without an end: one with forty of them and one with ten have a risk near 1. */
const weighed = (value) => -Math.log1p(-Math.min(value, 1 - Number.EPSILON))

/** A bar beside the longest of the texts that are listed. */
function risk(value, most) {
  const cell = el("td", "number", "", { "aria-label": num(value, 2), title: num(value, 2) })
  const bar = el("span", "weight", "")
  bar.style.inlineSize = `${most > 0 ? Math.round((100 * weighed(value)) / most) : 0}%`
  cell.append(bar)
  return cell
}

/** Scroll the list alone, never the page around it, so that a line is seen below the headings. */
function intoList(line, list) {
  const [at, frame] = [line.getBoundingClientRect(), list.getBoundingClientRect()]
  const head = list.querySelector("thead").getBoundingClientRect().height
  if (at.top < frame.top + head) list.scrollTop -= frame.top + head - at.top
  else if (at.bottom > frame.bottom) list.scrollTop += at.bottom - frame.bottom
}

function drawQueue(desk, root, data, go) {
  const body = root.querySelector(".rows")
  const focused = root.getRootNode().activeElement
  const held = focused && focused.classList.contains("open") ? focused.textContent : null
  desk.go = go // a line outlives the draw that made it
  const lines = new Map()
  const most = Math.max(...data.rows.map((row) => weighed(row.risk)))
  for (const row of data.rows) {
    const sheet = seen(desk, row.id)
    const open = sheet ? lasting(sheet).filter((span) => !span.decided).length : row.open
    const read = sheet ? sheet.reviewed : row.reviewed || finished(desk, row.id)
    const sign = [open, read, row.id === desk.current, row.risk, most, spoken.code].join()
    const before = desk.lines.get(row.id)
    if (before && before.sign === sign) {
      lines.set(row.id, before)
      continue
    }
    const line = el("tr", row.id === desk.current ? "current" : "")
    const name = button(row.id, "", () => desk.go(row.id), { className: "open" })
    name.tabIndex = row.id === desk.current ? 0 : -1
    if (row.id === desk.current) name.setAttribute("aria-current", "true")
    const cell = el("td")
    cell.append(name)
    const other = read ? undefined : data.others[row.id]
    const said = read ? say("read") : other ? say("{name} has it in hand", { name: other }) : ""
    const done = el("td", "tick", read ? "✓" : other ? "…" : "", said ? { "aria-label": said, title: said } : {})
    line.append(done, cell, el("td", "number", String(open)), risk(row.risk, most))
    line.onclick = () => desk.go(row.id)
    lines.set(row.id, { sign, line })
  }
  desk.lines = lines
  const wanted = [...lines.values()].map((one) => one.line)
  if (wanted.length !== body.children.length || wanted.some((line, index) => line !== body.children[index])) body.replaceChildren(...wanted)
  if (held) for (const one of body.querySelectorAll(".open")) if (one.textContent === held) one.focus({ preventScroll: true })
  const current = body.querySelector(".current")
  if (current && desk.shownRow !== desk.current) intoList(current, body.closest(".scroll"))
  desk.shownRow = desk.current
  const pages = Math.max(1, Math.ceil(data.total / data.size))
  root.querySelector(".page").textContent =
    say("{first} to {last} of {all}", { first: num(data.page * data.size + 1),
      last: num(Math.min(data.total, (data.page + 1) * data.size)), all: num(data.total) })
  root.querySelector(".back").disabled = data.page <= 0
  root.querySelector(".forth").disabled = data.page >= pages - 1
}

const TYPES = {
  direct: () => say("points at one person by itself"), quasi: () => say("points at a person together with others"),
  none: () => say("points at nobody by itself"),
}

function drawCard(desk, root, data, sheet, span, slice, press) {
  const card = root.querySelector(".finding")
  if (!sheet) {
    card.replaceChildren(el("p", "quiet", desk.current ? say("Opening the text …") : say("No text fits.")))
    return
  }
  const spans = lasting(sheet)
  const open = spans.filter((one) => !one.decided).length
  const nodes = []
  if (!spans.length) nodes.push(el("p", "strong", say("Nothing was found in this text.")), el("p", "quiet", say("If something is missing, select it in the text or type it below.")))
  else if (!span) nodes.push(el("p", "strong", say("All {n} findings here are decided.", { n: spans.length })), el("p", "quiet", say("N opens the next text; K or a click goes back to a finding.")))
  else {
    const at = spans.indexOf(span)
    const [name] = data.labels[span.label] || [span.label]
    nodes.push(el("h3", "", name.charAt(0).toUpperCase() + name.slice(1)), el("p", "value", slice(span.start, span.end)))
    nodes.push(el("p", "quiet", `${say("Finding {n} of {all}", { n: at + 1, all: spans.length })} · ${TYPES[span.type] ? TYPES[span.type]() : ""}`))
    nodes.push(el("p", "quiet", `${say("Confidence {n}%", { n: Math.round(100 * span.score) })} · ${say("found by: {who}", { who: data.who[span.who] || span.who })}`))
    nodes.push(el("p", "now", span.state === "accepted"
      ? span.decided ? say("Now: goes, decided by a person") : say("Now: goes, not looked at")
      : span.decided ? say("Now: stays in the text, decided by a person") : say("Now: stays in the text, not looked at")))
    nodes.push(sameWords(desk, data, sheet, span, press))
    const pair = el("div", "pair")
    const goes = span.state === "accepted" // what holds is filled, decided or not
    const filled = (held) => ({ className: held ? "primary" : "", pressed: held })
    pair.append(
      button(say("It goes"), "A", () => press("accept"), { ...filled(goes), name: "accept" }),
      button(say("It stays"), "X", () => press("reject"), { ...filled(!goes), name: "reject" }),
      button(say("Previous"), "K", () => press("previous"), { name: "previous" }),
      button(say("Next"), "J", () => press("next"), { name: "next" }),
    )
    nodes.push(pair, typeChoice(desk, data, span, press), alike(desk, data, span, press))
  }
  const all = el("div", "pair")
  all.append(
    button(say("All here go"), "⇧A", () => press("accept text"), { disabled: !open, name: "accept-text" }),
    button(say("All here stay"), "⇧X", () => press("reject text"), { disabled: !open, name: "reject-text" }),
  )
  if (spans.length) nodes.push(el("p", "quiet", sayMany("{n} finding of this text not looked at:", "{n} findings of this text not looked at:", open)), all)
  nodes.push(button(doneWords(open, spans.length), "N", () => press("finish"), { className: open ? "wide" : "wide primary", name: "finish" }))
  const kept = root.getRootNode().activeElement
  const name = kept && card.contains(kept) ? kept.dataset.act : null
  card.replaceChildren(...nodes)
  if (name) { const again = card.querySelector(`[data-act="${name}"]`); if (again) again.focus({ preventScroll: true }) }
}

/** What going on closes: the findings that nobody looked at count from then on as decided the way they are marked. */
function doneWords(open, all) {
  if (!open) return say("Done, next text")
  return open === all ? sayMany("Done: the {n} finding as marked", "Done: all {n} as marked", open)
    : sayMany("Done: the other {n} finding as marked", "Done: the other {n} as marked", open)
}

function wanted(desk, data, span) {
  const key = `${span.value}.${span.label}`
  return desk.same[key] === undefined ? data.names.includes(span.label) : desk.same[key]
}

function freeHere(sheet, span) {
  return (sheet.free[`${span.value}.${span.label}`] || []).filter(
    (at) => !sheet.spans.some((one) => one.temporary && one.start === at[0]),
  ).length
}

function sameWords(desk, data, sheet, span, press) {
  const here = freeHere(sheet, span)
  const more = desk.alike && desk.alike.span === span.id ? desk.alike : null
  const elsewhere = more ? more.elsewhere : 0
  const box = el("div", "same")
  if (!here && !elsewhere) return box
  const where = []
  if (here) where.push(sayMany("{n} more place here", "{n} more places here", here))
  const places = sayMany("{n} place", "{n} places", elsewhere)
  if (elsewhere) where.push(sayMany("{places} in {n} other text", "{places} in {n} other texts", more.others, { places }))
  const words = say("The same words stand unmarked at {places}.", { places: where.join(", ") })
  box.append(el("p", "", words))
  if (here) {
    const label = el("label")
    const tick = el("input", "", undefined, { type: "checkbox" })
    tick.dataset.act = "same"
    tick.checked = wanted(desk, data, span)
    tick.onchange = () => { press("toggle same") }
    label.append(tick, document.createTextNode(` ${say("If it goes, those here go too")}`), el("kbd", "", "M"))
    box.append(label)
  }
  return box
}

function typeChoice(desk, data, span, press) {
  const label = el("label", "type", `${say("Type")} `)
  const select = el("select", "", undefined, { "aria-label": say("Type") })
  select.dataset.act = "type"
  for (const [id, [name]] of Object.entries(data.labels)) {
    const option = el("option", "", name, { value: id })
    option.selected = id === span.label
    select.append(option)
  }
  select.onchange = () => press("relabel", select.value)
  label.append(select)
  return label
}

function alike(desk, data, span, press) {
  const more = desk.alike && desk.alike.span === span.id ? desk.alike : null
  const box = el("details", "alike")
  box.open = Boolean(desk.openAlike)
  box.ontoggle = () => { desk.openAlike = box.open }
  if (!more) {
    box.append(el("summary", "quiet", say("The same words elsewhere: counting …")))
    return box
  }
  if (more.total <= 1 && !more.elsewhere) return el("p", "quiet", say("The same words stand in no other place."))
  const unmarked = more.elsewhere + more.here
  const free = more.total - more.decided
  box.append(el("summary", "", sayMany("All like this: {n} finding", "All like this: {n} findings", more.total) + (unmarked ? `, ${say("{n} unmarked", { n: num(unmarked) })}` : "")))
  if (more.decided) box.append(el("p", "quiet", say("A person decided {n} of them; those stay as they are.", { n: num(more.decided) })))
  const pair = el("div", "pair")
  pair.append(
    button(say("They go: {n}", { n: num(free) }), "", () => press("accept alike"), { name: "accept-alike" }),
    button(say("They stay: {n}", { n: num(free) }), "", () => press("reject alike"), { name: "reject-alike" }),
  )
  box.append(pair)
  if (unmarked) box.append(button(say("They go, unmarked ones too: {n}", { n: num(free + unmarked) }), "", () => press("accept alike mark"), { className: "wide", name: "mark-alike" }))
  return box
}

function drawText(desk, root, data, sheet, span, press) {
  const area = root.querySelector(".text")
  const after = root.querySelector(".after")
  const head = root.querySelector(".head")
  if (!sheet) {
    head.textContent = desk.current ? say("Text {record}", { record: desk.current }) : ""
    area.replaceChildren()
    after.replaceChildren()
    return { slice: () => "", length: 0 }
  }
  const { parts, slice } = cutAt(sheet.text, sheet.spans, data)
  const length = Array.from(sheet.text).length
  const open = lasting(sheet).filter((one) => !one.decided).length
  const direct = lasting(sheet).filter((one) => !one.decided && one.type === "direct").length
  const pressing = direct ? `, ${sayMany("{n} of them points at one person", "{n} of them point at one person", direct)}` : ""
  head.textContent =
    `${say("Text {record}", { record: sheet.id })} · ` +
    sayMany("{n} finding, {open} not looked at", "{n} findings, {open} not looked at", lasting(sheet).length, { open }) +
    `${pressing}${sheet.reviewed ? ` · ${say("read")}` : ""}` +
    (data.others[sheet.id] && !sheet.reviewed ? ` · ${say("{name} has it in hand", { name: data.others[sheet.id] })}` : "")
  const kept = root.getRootNode().activeElement
  const focused = kept && area.contains(kept) && kept !== area
  drawSegments(area, parts, span ? span.id : "", true, (id) => press("choose", id))
  drawAfter(after, sheet, data, slice, length)
  const active = area.querySelector(".mark.active")
  if (focused && active) active.focus({ preventScroll: true })
  const moved = `${sheet.id} ${span ? span.id : ""}`
  if (moved !== desk.moved) {
    if (active) active.scrollIntoView({ block: "nearest" })
    else if (!desk.moved || !desk.moved.startsWith(`${sheet.id} `)) area.parentElement.scrollTop = 0
    desk.moved = moved
  }
  return { slice, length }
}

/** One of the two texts at a time, each as tall as the desk. */
function drawView(desk, root) {
  const view = desk.view === "look" ? "look" : "original"
  for (const one of root.querySelectorAll(".view")) one.setAttribute("aria-selected", String(one.dataset.view === view))
  root.querySelector(".original").hidden = view !== "original"
  root.querySelector(".look").hidden = view !== "look"
}

function drawAdding(desk, root, data, sheet, press) {
  const tool = root.querySelector(".tool")
  if (!desk.range || !sheet) {
    tool.replaceChildren(el("span", "quiet", say("Missed something? Select it in the text, or type it on the right.")))
    return
  }
  const mark = button(say("Mark the selected text as"), "", () => press("add", select.value), { className: "primary", name: "add" })
  mark.onmousedown = (event) => event.preventDefault()
  const select = labelSelect(data, desk.adding)
  select.onchange = () => { desk.adding = select.value }
  tool.replaceChildren(mark, select, button(say("Leave it"), "", () => press("leave"), { name: "leave" }))
}

function labelSelect(data, value) {
  const select = el("select", "", undefined, { "aria-label": say("Type of what is marked") })
  for (const [id, [name]] of Object.entries(data.labels)) {
    const option = el("option", "", name, { value: id })
    option.selected = id === value
    select.append(option)
  }
  return select
}

// Every place of exact words, in code points, without overlaps.
function placesOf(text, phrase) {
  const found = []
  let start = 0
  while (phrase && (start = text.indexOf(phrase, start)) >= 0) {
    const before = points(text.slice(0, start))
    found.push([before, before + points(phrase)])
    start += phrase.length
  }
  return found
}

const KEYS = {
  a: "accept", x: "reject", j: "next", k: "previous", n: "finish", p: "back", u: "undo", m: "toggle same", l: "look",
  A: "accept text", X: "reject text",
}

function isTyping(event) {
  const at = event.composedPath()[0]
  const takesLetters = ["INPUT", "TEXTAREA", "SELECT"].includes(at && at.tagName) && !["checkbox", "radio"].includes(at.type)
  return takesLetters || Boolean(at && at.isContentEditable)
}

function keyOf(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !event.shiftKey) return "undo"
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined
  return KEYS[event.key] || KEYS[event.key.toLowerCase()]
}

const HELD = 3000 // ms for which a desk that is drawn anew may be away and its keys still count

// A page that is drawn anew can take the desk away for a moment. Keys of that moment were meant for the text that was in
// sight: they are kept, and count on that text, in their order, once the desk stands again; not where the hand did
// anything else meanwhile. A key held down says nothing more while nothing is drawn.
function hold(desk) {
  const held = { names: [], other: false, record: desk.sheets.has(desk.current) ? desk.current : null }
  const away = () => held.other || location.pathname !== desk.path
  const listen = (event) => {
    if (["Shift", "Control", "Alt", "Meta", "CapsLock"].includes(event.key)) return
    const name = away() || isTyping(event) || event.defaultPrevented ? undefined : keyOf(event)
    if (name && event.repeat) return
    if (name) held.names.push(name)
    else held.other = true
  }
  const press = () => { held.other = true }
  document.addEventListener("keydown", listen)
  document.addEventListener("pointerdown", press, true)
  held.end = () => {
    clearTimeout(held.timer)
    document.removeEventListener("keydown", listen)
    document.removeEventListener("pointerdown", press, true)
    desk.held = null
    held.lost = held.names.length > 0 && away() && location.pathname === desk.path
    return away() ? [] : held.names
  }
  held.timer = setTimeout(() => { if (held.end().length || held.lost) desk.told = early() }, HELD)
  return held
}

const early = () => say("A key came before the text was shown, and was not counted.")

/** Count what was kept on the text that was in sight; what is taken back is the last decision, wherever it was made. */
function release(desk, held, press) {
  const names = held.end()
  const missed = names.findIndex((name) => {
    if (name !== "undo" && desk.current !== held.record) return true
    press(name)
    return false
  })
  return missed >= 0 || held.lost
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector(".desk")
  if (!root) return
  speak(data.language)
  sayAll(root)
  const desk = openDesk(data.corpus)
  receive(desk, data)
  const send = (message) => setTriggerValue("sync", message)

  const show = () => {
    const sheet = seen(desk, desk.current)
    const span = chosen(desk, sheet)
    if (span && desk.span === null) desk.span = span.id
    if (span && desk.counted !== span.id) {
      desk.counted = span.id
      rest()
    }
    drawBar(desk, root, data)
    drawQueue(desk, root, data, (id) => press("open", id))
    drawView(desk, root)
    const { slice } = drawText(desk, root, data, sheet, span, press)
    drawAdding(desk, root, data, sheet, press)
    drawCard(desk, root, data, sheet, span, slice, press)
    drawNote(sheet)
  }

  const after = () => { show(); pump(desk, send); drawBar(desk, root, data) }

  // What a step of the cursor asks of the server (counts of the same words) waits until the hand rests.
  const rest = () => {
    clearTimeout(desk.resting)
    desk.resting = setTimeout(() => { desk.ask = true; pump(desk, send) }, 400)
  }

  const step = (sheet, span, by) => {
    const spans = lasting(sheet)
    if (!spans.length) return
    const at = span ? spans.indexOf(span) : by > 0 ? -1 : spans.length
    const target = spans[at + by]
    if (target) desk.span = target.id
    else desk.told = by > 0 ? say("This was the last finding. N opens the next text.") : say("This is the first finding.")
    rest()
  }

  // After a decision: the next open finding behind it, else the first one; none once all are decided.
  const onward = (span) => {
    const spans = lasting(seen(desk, desk.current))
    const behind = spans.slice(spans.findIndex((one) => one.id === span.id) + 1)
    const target = firstOpen(desk, behind) || firstOpen(desk, spans)
    desk.span = target ? target.id : ""
    rest()
  }

  const leaveFor = (id, words) => {
    desk.range = null
    if (id === undefined) desk.told = words
    else openText(desk, id)
  }

  const decide = (name, sheet, span, given) => {
    const common = { span: span.id, value: span.value, old: span.label }
    if (name === "relabel") {
      if (given !== span.label) act(desk, { action: name, label: given, ...common })
    } else if (name.endsWith("alike") || name.endsWith("mark")) {
      act(desk, { action: name.replace(" mark", ""), same: name.endsWith("mark"), ...common })
      desk.alike = null
      onward(span)
    } else {
      act(desk, { action: name, same: name === "accept" && freeHere(sheet, span) > 0 && wanted(desk, data, span), ...common })
      onward(span)
    }
  }

  const press = (name, given) => {
    desk.told = ""
    const sheet = seen(desk, desk.current)
    const span = chosen(desk, sheet)
    if (name === "undo") undoLast(desk)
    else if (name === "look") desk.view = given || (desk.view === "look" ? "original" : "look")
    else if (name === "open") { if (given !== desk.current) leaveFor(given) }
    else if (name === "back") leaveFor(preceding(desk), say("This is the first text of the list."))
    else if (!sheet) desk.told = early()
    else if (name === "finish") {
      act(desk, { action: "finish", record: sheet.id })
      leaveFor(following(desk), data.away ? say("Every other unread text of this queue is in somebody else's hand.") : say("No further text waits in this queue."))
    } else if (name.endsWith(" text")) { act(desk, { action: name, record: sheet.id }); desk.span = "" }
    else if (name === "choose") { desk.span = given; rest() }
    else if (name === "next" || name === "previous") step(sheet, span, name === "next" ? 1 : -1)
    else if (name === "leave") desk.range = null
    else if (name === "add" || name === "type") add(sheet, name, given)
    else if (!span) desk.told = lasting(sheet).length ? say("Every finding here is decided; N opens the next text.") : say("Nothing was found here; N opens the next text.")
    else if (name === "toggle same") desk.same[`${span.value}.${span.label}`] = !wanted(desk, data, span)
    else decide(name, sheet, span, given)
    after()
  }

  const add = (sheet, name, given) => {
    const typed = root.querySelector(".typed")
    const places = name === "type" ? placesOf(sheet.text, typed.value) : [[desk.range.start, desk.range.end]]
    desk.range = null
    const free = places.filter((at) => !sheet.spans.some((one) => one.start === at[0] && one.end === at[1] && one.label === given))
    if (!free.length) {
      desk.told = places.length ? say("This is marked already.") : say("These words do not stand in this text.")
      return
    }
    const made = act(desk, { action: "add", record: sheet.id, places: free, label: given })
    desk.span = `new-${made.client}-${made.seq}`
    if (name === "type") typed.value = ""
  }

  const note = root.querySelector(".note")
  const drawNote = (sheet) => {
    if (!sheet) return
    const given = desk.notes.has(sheet.id) ? desk.notes.get(sheet.id) : sheet.note
    if (note.dataset.record === sheet.id) {
      // Somebody else's note appears where nothing was typed here.
      if (note.value === note.dataset.shown && note.value !== given) note.value = note.dataset.shown = given
      return
    }
    keepNote()
    note.dataset.record = sheet.id
    note.value = note.dataset.shown = given
  }
  const keepNote = () => {
    const id = note.dataset.record
    const sheet = id && desk.sheets.get(id)
    if (!sheet || note.value === note.dataset.shown) return // nothing was typed: what others wrote stays
    note.dataset.shown = note.value
    if (note.value.trim() !== sheet.note) desk.notes.set(id, note.value.trim())
  }
  note.onchange = () => { keepNote(); pump(desk, send) }

  const typed = root.querySelector(".typed")
  const typedLabel = root.querySelector(".typed-label")
  if (!typedLabel.childElementCount) typedLabel.append(...labelSelect(data, "PERSON").children)
  root.querySelector(".type-add").onclick = () => press("type", typedLabel.value)
  typed.onkeydown = (event) => { if (event.key === "Enter") press("type", typedLabel.value) }
  typed.oninput = () => {
    const sheet = seen(desk, desk.current)
    root.querySelector(".found").textContent = typed.value && sheet ? sayMany("Found at {n} place of this text.", "Found at {n} places of this text.", placesOf(sheet.text, typed.value).length) : ""
  }
  root.querySelector(".take-back").onclick = () => press("undo")
  const turn = (by) => { desk.page = data.page + by; desk.ask = true; pump(desk, send) }
  root.querySelector(".back").onclick = () => turn(-1)
  root.querySelector(".forth").onclick = () => turn(1)
  root.querySelector(".rows").onkeydown = (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const names = [...root.querySelectorAll(".open")]
    const target = by && names[names.indexOf(event.target) + by]
    if (target) { event.preventDefault(); target.focus() }
  }
  for (const one of root.querySelectorAll(".view")) one.onclick = () => press("look", one.dataset.view)
  root.querySelector(".panes").style.setProperty("--above", data.above ? "3.4rem" : "0rem")
  const see = (what) => { desk.see = what; desk.ask = true; pump(desk, send) }
  root.querySelector(".spot").onclick = () => see("spot")
  desk.showing = see
  const area = root.querySelector(".text")
  area.onmouseup = () => setTimeout(() => {
    const range = selectedRange(parentElement)
    const sheet = desk.sheets.get(desk.current)
    desk.range = range && sheet ? trimmed(range, sheet.text) : null
    drawAdding(desk, root, data, seen(desk, desk.current), press)
  }, 0)

  if (desk.stop) desk.stop()
  const listen = (event) => {
    const name = keyOf(event)
    if (!name || isTyping(event) || event.defaultPrevented) return
    event.preventDefault()
    // A key that decides is not one that moves: no frame around the whole page, which a click into it leads to.
    if (document.activeElement?.dataset.testid === "stMain") document.activeElement.blur()
    press(name)
  }
  document.addEventListener("keydown", listen)
  desk.redraw = after
  const clock = setInterval(() => { pump(desk, send); drawBar(desk, root, data) }, 1000)
  desk.stop = () => { document.removeEventListener("keydown", listen); clearInterval(clock); clearTimeout(desk.resting) }
  desk.path = location.pathname
  const held = desk.held
  after()
  if (held && release(desk, held, press)) {
    desk.told = early()
    after()
  }
  // The place stays: the hand may be further than the server has heard, and the next key is meant for what it saw.
  return () => {
    desk.stop()
    desk.stop = null
    desk.redraw = null
    desk.flight = null
    if (location.pathname === desk.path) desk.held = hold(desk)
  }
}

// What was selected, without the spaces around it; null where nothing is left.
function trimmed(range, text) {
  const all = Array.from(text)
  let { start, end } = range
  while (start < end && /\s/u.test(all[start])) start += 1
  while (end > start && /\s/u.test(all[end - 1])) end -= 1
  return start < end ? { start, end } : null
}
