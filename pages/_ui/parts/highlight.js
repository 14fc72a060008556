// Draws segments as DOM text nodes; `marks.js` stands before it.

export default function (component) {
  const { data, parentElement } = component
  const area = parentElement.querySelector(".text")
  if (!area) return
  area.setAttribute("role", "group")
  area.setAttribute("aria-label", data.label || "")
  area.tabIndex = 0 // so that a keyboard can scroll to its end
  drawSegments(area, data.segments || [], "", false, () => {})
}
