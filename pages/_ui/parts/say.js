// Sentences in the language of this session. The English one is the key, and stands where there is no other.
// `pages/_ui/language/script.py` sends what a script says in this way, and the catalogue is made from the same.

let spoken = { code: "en", single: {}, plural: {}, forms: "" }

function speak(language) { if (language) spoken = language }

function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (all, name) => (Object.hasOwn(values, name) ? String(values[name]) : all))
}

function say(text, values) { return filled(spoken.single[text] || text, values || {}) }

// The form that fits a number: `forms` holds the place of each number's form up to 199, after which they repeat.
function sayMany(one, many, n, values) {
  const forms = spoken.plural[one]
  const place = Number(spoken.forms[n < 200 ? n : 100 + (n % 100)] || 0)
  return filled(forms ? forms[place] : n === 1 ? one : many, { n: num(n), ...(values || {}) })
}

const formats = new Map() // making one takes longer than using it a hundred times

function num(value, digits) {
  const key = `${spoken.code} ${digits || ""}`
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat(spoken.code, digits ? { minimumFractionDigits: digits, maximumFractionDigits: digits } : {}))
  return formats.get(key).format(value)
}

// What the HTML itself says, once a language.
function sayAll(root) {
  if ((root.dataset.spoken || "en") === spoken.code) return
  for (const node of root.querySelectorAll("[data-say]"))
    node.firstChild.textContent = say(node.dataset.say) + (/\s$/.test(node.firstChild.textContent) ? " " : "")
  for (const node of root.querySelectorAll("[data-say-label]")) node.setAttribute("aria-label", say(node.dataset.sayLabel))
  for (const node of root.querySelectorAll("[data-say-title]")) node.setAttribute("title", say(node.dataset.sayTitle))
  root.dataset.spoken = spoken.code
}
