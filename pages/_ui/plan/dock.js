// Gives the bar the page's own colours, which a stylesheet outside a component cannot name.

export default function (component) {
  const own = getComputedStyle(component.parentElement)
  const page = document.querySelector(".stApp")
  if (!page) return
  for (const [name, from] of [["--dock-ground", "--st-background-color"], ["--dock-line", "--st-border-color"], ["--dock-words", "--st-text-color"]]) {
    page.style.setProperty(name, own.getPropertyValue(from))
  }
}
