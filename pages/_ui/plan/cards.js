// Draws method cards as buttons. Words are only ever set through textContent.
// A press shows at once; the server's answer draws the same again.

const ROW = 3 // cards side by side where the settings stand beside them

function part(name, words, tag = "span") {
  const node = document.createElement(tag)
  node.className = name
  node.textContent = words
  return node
}

function line(name, title, words) {
  const node = part(`line ${name}`, "")
  const bold = document.createElement("b")
  bold.textContent = `${title} `
  node.append(bold, document.createTextNode(words))
  return node
}

function draw(item, chosen, words) {
  const card = document.createElement("button")
  card.type = "button"
  card.className = "card"
  card.dataset.id = item.id
  card.setAttribute("aria-pressed", item.id === chosen ? "true" : "false")
  const head = part("head", "")
  const name = part("name", item.name)
  name.id = `name-${item.id}`
  const tick = part("tick", "✓")
  tick.setAttribute("aria-hidden", "true")
  head.append(name, tick)
  const badges = part("badges", "")
  if (item.best) badges.append(part(`badge ${item.weak ? "weak" : "best"}`, item.best))
  badges.append(part(`badge ${item.tone}`, item.badge))
  const rest = part("", "")
  rest.id = `rest-${item.id}`
  rest.style.display = "contents"
  rest.append(badges, part("line does", item.does), line("good", words.good, item.good), line("mind", words.mind, item.mind))
  if (item.takes) rest.append(part("line few", item.takes))
  if (item.signal && !item.takes) rest.append(part("line", item.signal))
  rest.append(part("cost", item.cost))
  card.setAttribute("aria-labelledby", name.id)
  card.setAttribute("aria-describedby", rest.id)
  card.append(head, rest)
  return card
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const deck = parentElement.querySelector(".deck")
  if (!deck) return
  deck.setAttribute("role", "group")
  deck.setAttribute("aria-label", data.label)
  deck.classList.toggle("list", data.list === true)
  const rows = data.groups.reduce((sum, group) => sum + Math.ceil(group.cards.length / ROW), 0)
  deck.classList.toggle("many", data.list !== true && rows > 1)
  const focused = parentElement.activeElement ? parentElement.activeElement.dataset.id : null
  const nodes = []
  for (const group of data.groups) {
    if (group.title) nodes.push(part("group", group.title, "h3"))
    const row = part("row", "", "div")
    for (const item of group.cards) row.append(draw(item, data.chosen, data))
    nodes.push(row)
  }
  deck.replaceChildren(...nodes)
  const all = [...deck.querySelectorAll(".card")]
  for (const card of all) {
    card.onclick = () => {
      for (const other of all) other.setAttribute("aria-pressed", other === card ? "true" : "false")
      setTriggerValue("picked", card.dataset.id)
    }
  }
  const again = all.find((card) => card.dataset.id === focused)
  if (again) again.focus({ preventScroll: true })
}
