// A key counts for the record on the screen; one that comes while a decision is stored is held back, and that is said.
// Where no decision counts, a key that would make one says why. A key held down decides once: what is drawn next, be it
// another record or a question, takes a key pressed anew.

const BUTTONS = { a: ["approved", "sure"], x: ["rejected"], u: ["pending"], j: ["next"], k: ["previous"] }
const DECIDES = ["a", "x", "u"]
const LONGEST = 10000 // milliseconds after which a decision is taken for lost, and keys count again
const desk = { since: 0, early: 0, area: null, words: "", closed: "" }

function say() {
  if (desk.area) desk.area.textContent = desk.early ? desk.words : ""
}

function live(names) {
  return names.some((name) => document.querySelector(`[class*="st-key-release-${name}-"] button:not([disabled])`))
}

// Where letters are typed or something is chosen by them; a radio or a tick takes none.
const TYPED = 'input:not([type="radio"]):not([type="checkbox"]), textarea, select, [contenteditable=true], [role="combobox"], [role="listbox"]'
const PICKED = 'input[type="radio"], input[type="checkbox"]'

function pressed(event) {
  const action = BUTTONS[event.key.toLowerCase()]
  const typing = event.target.closest?.(TYPED)
  if (!action || typing || event.ctrlKey || event.metaKey || event.altKey || !desk.area?.isConnected) return
  if (document.querySelector('[role="dialog"]')) { // a question stands over the records
    event.stopImmediatePropagation()
    return
  }
  if (event.target.closest?.(PICKED)) { // buttons hear no key there: it is given to the page, and comes here again
    event.stopImmediatePropagation()
    event.preventDefault()
    document.activeElement?.blur()
    const { key, code, repeat } = event
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, code, repeat, bubbles: true, cancelable: true }))
    return
  }
  // A key that decides is not one that moves: no frame around the whole page, which a click into it leads to.
  if (document.activeElement?.dataset.testid === "stMain") document.activeElement.blur()
  if (desk.closed && DECIDES.includes(event.key.toLowerCase())) {
    desk.area.textContent = desk.closed
    return
  }
  if (event.repeat && DECIDES.includes(event.key.toLowerCase())) {
    event.stopImmediatePropagation()
    event.preventDefault()
    return
  }
  const now = performance.now()
  if (desk.since && now - desk.since < LONGEST) {
    event.stopImmediatePropagation()
    event.preventDefault()
    if (!event.repeat) desk.early += 1
    say()
  } else if (live(action)) {
    desk.since = now
    desk.early = 0
    say()
  }
}

export default function (component) {
  const { data, parentElement } = component
  desk.area = parentElement.querySelector(".early")
  desk.words = data.words
  desk.closed = data.closed
  desk.since = 0 // what was decided is stored, and the record it is about is drawn
  say()
  window.addEventListener("keydown", pressed, true) // the same function is added once
}
