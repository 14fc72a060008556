// Gives the bar the page's own colours, which a stylesheet outside a component cannot name.

export default function (component) {
  const own = getComputedStyle(component.parentElement)
  const bar = document.querySelector(".st-key-release-dock")
  if (!bar) return
  for (const [name, from] of [["--dock-ground", "--st-background-color"], ["--dock-line", "--st-border-color"]]) {
    bar.style.setProperty(name, own.getPropertyValue(from))
  }
}
