// Quality over ε: the mean of runs, their spread, and the chosen ε.
//
//     drawCurve(root, data, choose)
//
// data has texts (title, alt, ways, and waiting while points are pending), points {at, epsilon,
// mean, low, high, label, text}, ticks {at, text}, base (without privacy, or null) with baseLabel,
// and here {at, value, label, text}, or null.  label is the value as text; at is the position on the
// slider below, from 0 to 1; inset where its track begins, in pixels.  choose is called with the ε
// of a point.

const shape = (name, attributes, parent, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
};

export function drawCurve(root, data, choose) {
  root.replaceChildren();
  root.classList.add("curve");
  const width = Math.max(root.clientWidth, 200);
  // The last part is for the numbers below the axis.
  const height = 156, top = 28, bottom = 136, inset = data.inset;
  const x = (at) => inset + (width - 2 * inset) * at;
  const y = (value) => bottom - (bottom - top) * value;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" }, root);
  svg.setAttribute("aria-label", data.alt);
  shape("line", { x1: x(0), x2: x(1), y1: y(0), y2: y(0), class: "axis" }, svg);
  for (const value of [1, 0.5, 0]) {
    if (value) shape("line", { x1: x(0), x2: x(1), y1: y(value), y2: y(value), class: "grid" }, svg);
    shape("text", { x: x(0), y: y(value) - 3, class: "note" }, svg, String(value));
  }
  const title = shape("text", { x: x(0), y: 10, class: "note" }, svg, data.title);
  // What is in brackets gives way on a narrow screen.
  if (title.getComputedTextLength() > x(1) - x(0)) title.textContent = data.title.replace(/ \(.*?\)/, "");
  if (data.base !== null) {
    const line = { x1: x(0), x2: x(1), y1: y(data.base), y2: y(data.base), class: "base" };
    shape("line", line, svg);
    // At the foot of weak privacy, where graphs are seldom as bad.
    const label = { x: x(1), y: y(0) - 6, class: "note", "text-anchor": "end" };
    shape("text", label, svg, `╌╌ ${data.baseLabel}`);
  }
  const points = data.points;
  if (points.length > 1) {
    const there = points.map((p) => `${x(p.at)},${y(p.high)}`);
    const back = points.map((p) => `${x(p.at)},${y(p.low)}`).reverse();
    shape("polygon", { points: [...there, ...back].join(" "), class: "band" }, svg);
    const line = points.map((p) => `${x(p.at)},${y(p.mean)}`).join(" ");
    shape("polyline", { points: line, class: "line" }, svg);
  }
  if (points.length < 2 && data.waiting) {
    // Next to the chosen ε, on the side with more room.
    const [side, anchor] = data.here?.at >= 0.5 ? [-10, "end"] : [10, "start"];
    const at = x(data.here?.at ?? 0) + side;
    const beside = { x: at, y: bottom - 5, class: "note", "text-anchor": anchor };
    shape("text", beside, svg, data.waiting);
  }
  const value = (at, height, text) => {
    // Below the line of what there is without privacy, if it would lie on it.
    const crowded = data.base !== null && height <= data.base && height > data.base - 0.16;
    const place = { x: x(at), y: y(height) + (crowded ? 17 : -9), class: "value", "text-anchor": "middle" };
    shape("text", place, svg, text);
  };
  for (const point of points) {
    const dot = shape("circle", { cx: x(point.at), cy: y(point.mean), r: 4, class: "dot" }, svg);
    shape("title", {}, dot, point.text);
    dot.addEventListener("click", () => choose(point.epsilon));
    if (data.here?.at !== point.at) value(point.at, point.mean, point.label);
  }
  if (data.here) {
    const at = x(data.here.at);
    shape("line", { x1: at, x2: at, y1: y(1) - 2, y2: bottom + 2, class: "here" }, svg);
    const dot = { cx: at, cy: y(data.here.value), r: 6, class: "now" };
    shape("title", {}, shape("circle", dot, svg), data.here.text);
    value(data.here.at, data.here.value, data.here.label);
  }
  for (const tick of data.ticks) {
    if (data.here && tick.at === data.here.at) continue;
    const place = { x: x(tick.at), y: height - 3, class: "tick", "text-anchor": "middle" };
    shape("text", place, svg, tick.text);
  }
  // What the two directions mean, at the right of the title if there is room.
  if (data.ways) {
    const place = { x: x(1), y: 10, class: "note", "text-anchor": "end" };
    const ways = shape("text", place, svg, data.ways);
    const used = title.getComputedTextLength() + ways.getComputedTextLength() + 16;
    if (used > x(1) - x(0)) ways.remove();
  }
}
