// Scrolls the page to its head, once for each time it is drawn anew with another key.

export default function (component) {
  const page = component.parentElement.getRootNode().ownerDocument || document
  const main = page.querySelector('[data-testid="stMain"]')
  if (main) main.scrollTo({ top: 0 })
}
