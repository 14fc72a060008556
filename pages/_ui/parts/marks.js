// What both components that show marked text share. Text is only ever set through textContent.
// Offsets sent back count Unicode code points.

const points = (text) => Array.from(text).length

function wordsOf(node) {
  const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node
  return element && element.closest ? element.closest(".words") : null
}

// Code-point offset of a DOM position inside the text, or null where it lies outside.
function position(node, offset) {
  const words = wordsOf(node)
  if (!words) return null
  const start = Number(words.dataset.start)
  if (node.nodeType !== Node.TEXT_NODE) return start + (offset > 0 ? points(words.textContent) : 0)
  return start + points(node.data.slice(0, offset))
}

function selectedRange(root) {
  const selection = root.getSelection ? root.getSelection() : document.getSelection()
  if (!selection) return null
  let range = null
  if (selection.getComposedRanges) {
    try { range = selection.getComposedRanges({ shadowRoots: [root] })[0] } catch (error) { range = null }
  }
  if (!range && selection.rangeCount) range = selection.getRangeAt(0)
  if (!range) return null
  const start = position(range.startContainer, range.startOffset)
  const end = position(range.endContainer, range.endOffset)
  return start === null || end === null || end <= start ? null : { start, end }
}

function drawMark(segment, active, pickable, pick) {
  const mark = document.createElement("span")
  const chosen = segment.id && segment.id === active
  const hue = ((segment.hue || 0) % 7 + 7) % 7
  mark.className = `mark hue${hue}${segment.decided ? " decided" : ""}${segment.fate ? ` ${segment.fate}` : ""}${chosen ? " active" : ""}`
  const strength = Math.min(1, Math.max(0, segment.strength === undefined ? 1 : segment.strength))
  mark.style.setProperty("--mix", `${Math.round(8 + 22 * strength)}%`)
  if (pickable && segment.id) {
    mark.tabIndex = 0
    mark.setAttribute("role", "button")
    mark.setAttribute("aria-pressed", chosen ? "true" : "false")
    mark.dataset.id = segment.id
    mark.onclick = () => { pick(segment.id) }
    mark.onkeydown = (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault()
        event.stopPropagation()
        pick(segment.id)
      }
    }
  }
  return mark
}

// Spaces at the ends of marked words and breaks between their lines: a frame around these alone would be an empty box.
const BLANK = /(^\s+|\s+$|\s*\n\s*)/u

function drawSegments(area, segments, active, pickable, pick) {
  const nodes = []
  let start = 0
  const said = (text) => {
    const words = document.createElement("span")
    words.className = "words"
    words.dataset.start = String(start)
    words.textContent = text
    start += points(text)
    return words
  }
  for (const segment of segments) {
    if (segment.label === undefined) {
      nodes.push(said(segment.text))
      continue
    }
    const parts = segment.text.split(BLANK).filter((part) => part)
    const full = parts.filter((part) => part.trim())
    let seen = 0
    for (const part of full.length ? parts : [segment.text]) {
      if (full.length && !part.trim()) {
        nodes.push(said(part))
        continue
      }
      const mark = drawMark(segment, active, pickable && seen === 0, pick)
      mark.append(said(part))
      if (!full.length) mark.style.whiteSpace = "pre" // blanks alone: they stay beside their type
      seen += 1
      if (seen >= full.length) { // the type stands once, behind the last of its words
        const tag = document.createElement("span")
        tag.className = "tag"
        tag.textContent = segment.label
        mark.append(tag)
      }
      nodes.push(mark)
    }
  }
  area.replaceChildren(...nodes)
}
