// Graphs over the same columns, side by side or as one matrix: drawn from what `scene.py` makes.
//
//     drawGraphs(root, scene, view, { onView, onPair })
//
// view is the reader's view as texts, so that a URL can hold it:
//   focus  "" for all columns, else a column's number and its neighbourhood: "3" and "3-2"
//          for the columns one and two links away, "3-parents", or "3-to-7" for the paths to another;
//   as     "graph", "matrix", or "drag" where the page draws that view itself (scene.drag);
//   links  "all" to draw the links that only the reference has where they are many, else "".
// onView is called with a new view when the reader changes it, onPair with a pair that is selected.

const SVG = "http://www.w3.org/2000/svg";
const svg = (name, attributes, parent, text) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent?.append(element);
  return element;
};
const html = (name, attributes, parent, text) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent?.append(element);
  return element;
};
let font = "sans-serif";
const pen = document.createElement("canvas").getContext("2d");
const widthOf = (text, size) => {
  pen.font = `${size}px ${font}`;
  return pen.measureText(text).width;
};
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
// A column's name where it fits, else its short form, which the notes below explain.
const named = (state, node, letters) => {
  const { names, short } = state.scene;
  if (names[node].length <= letters || names[node] === short[node]) return names[node];
  state.shortened.add(node);
  return short[node];
};
const few = (names, most = 8) =>
  names.length > most ? `${names.slice(0, most).join(", ")} and ${names.length - most} more`
    : names.join(", ");

// ---- the view

// Columns in sight of the small graphs keep their places and fade; of larger ones only these stay.
const SMALL = 20;
// Links that only the reference has are drawn from the start up to this number of columns.
const FEW = 12;

const focusOf = (view, count) => {
  const parts = /^(\d+)(?:-([23]|parents|to-(\d+)))?$/.exec(view.focus || "");
  const column = parts ? Number(parts[1]) : NaN;
  const target = parts?.[3] === undefined ? null : Number(parts[3]);
  if (!(column < count) || (target !== null && !(target < count))) return null;
  return { column, reach: target === null ? parts[2] ?? "1" : "to", target };
};
const onlyThere = (graph) => graph.pairs.filter((pair) => pair.kind === "missing").length;
const many = (scene) => scene.names.length > FEW && scene.graphs.some(onlyThere);
const hides = (scene, view) => many(scene) && view.links !== "all";
const drawnPairs = (scene, graph, view) =>
  hides(scene, view) ? graph.pairs.filter((pair) => pair.kind !== "missing") : graph.pairs;
const links = (scene, view) =>
  scene.graphs.flatMap((graph) => drawnPairs(scene, graph, view))
    .filter((pair) => pair.kind !== "unclear");

function neighbours(scene, view) {
  const near = scene.names.map(() => new Set());
  for (const { i, j } of links(scene, view)) {
    near[i].add(j);
    near[j].add(i);
  }
  return near;
}
function distances(near, from) {
  const steps = new Map([[from, 0]]);
  for (const node of steps.keys()) {
    for (const other of near[node]) if (!steps.has(other)) steps.set(other, steps.get(node) + 1);
  }
  return steps;
}
// The columns in sight, the same in every graph; null for all.
function inSight(scene, view) {
  const focus = focusOf(view, scene.names.length);
  if (!focus) return null;
  const { column, reach, target } = focus;
  if (reach === "parents") {
    const points = (pair) => {
      if (pair.i !== column && pair.j !== column) return false;
      const [here, there] = endsAt(pair, column);
      // With circles: what may be a cause.
      return isHead(here) ? !(scene.pag && isHead(there)) : scene.pag && here === "o" && !isHead(there);
    };
    return new Set([column, ...links(scene, view).filter(points).map((p) => p.i + p.j - column)]);
  }
  const near = neighbours(scene, view);
  const here = distances(near, column);
  if (reach === "to") {
    const there = distances(near, target);
    // The shortest paths, and paths that are one link longer.
    const longest = (here.get(target) ?? -1) + 1;
    const on = [...here.keys()].filter((node) => here.get(node) + there.get(node) <= longest);
    return new Set([column, target, ...on]);
  }
  return new Set([...here.keys()].filter((node) => here.get(node) <= Number(reach)));
}
const isHead = (end) => "<>".includes(end);
// The mark of a pair at a column, and the one at the other column.
const endsAt = ({ i, mark }, column) =>
  i === column ? [mark[0], mark.at(-1)] : [mark.at(-1), mark[0]];
// The relation of a column to another, by the marks at both; a circle is a tail or an arrowhead.
function groupOf(pag, here, there) {
  if (isHead(here) && isHead(there)) return pag ? GROUPS.both : "both ways";
  if (!pag) return isHead(here) ? "parents" : isHead(there) ? "children" : "undirected";
  if (here === "-" && there === "-") return GROUPS.selected;
  if (isHead(here)) return there === "o" ? GROUPS.maybeBy : GROUPS.by;
  if (isHead(there)) return here === "o" ? GROUPS.maybe : GROUPS.causes;
  return GROUPS.open;
}
const GROUPS = {
  causes: "causes",
  by: "caused by",
  both: "shares an unobserved confounder with",
  maybe: "causes, or shares an unobserved confounder with",
  maybeBy: "caused by, or shares an unobserved confounder with",
  open: "ends cannot be determined",
  selected: "selected together with",
};
// The links of a column in a graph, in words.
function described(scene, graph, view, column) {
  const order = graph.pag ? Object.values(GROUPS) : ["parents", "children", "undirected", "both ways"];
  const groups = Object.fromEntries(order.map((group) => [group, []]));
  for (const pair of drawnPairs(scene, graph, view)) {
    const { i, j, kind } = pair;
    if (i !== column && j !== column) continue;
    let group = groupOf(graph.pag, ...endsAt(pair, column));
    if (kind === "missing") group = "only in the reference";
    if (kind === "unclear") group = "inconclusive";
    (groups[group] ||= []).push(scene.names[i === column ? j : i]);
  }
  const said = Object.entries(groups).filter(([, names]) => names.length);
  return said.length ? said.map(([group, names]) => `${group}: ${few(names)}`).join(" · ")
    : "no link";
}

// ---- places: names in boxes of one size of letters where they fit, else dots with some names

// Pixels of the letters; the most lines of a whole name, more make it short; the share of the frame
// that the boxes may take; and the least gap between two, room for an arrow.
const TRIALS = [
  [18, 9, 0.07, 14], [16, 9, 0.12, 14], [14, 9, 0.3, 12], [13, 9, 0.36, 12], [12, 9, 0.4, 12],
  [11, 9, 0.42, 12], [11, 3, 0.42, 12], [14, 0, 0.3, 14], [12, 0, 0.4, 14], [11, 0, 0.46, 12],
  [11, 0, 0.5, 9], [11, 0, 0.55, 7],
];
const SMALLEST = 11;
const LINE = 1.25;
const ROW_BELOW = 26;

const boxOf = (lines, size) => ({
  lines,
  size,
  width: Math.max(...lines.map((line) => widthOf(line, size))) + 0.9 * size,
  height: lines.length * size * LINE + 0.5 * size,
});
const RIM = 5;
// Boxes pushed apart within the frame, along the axis that takes less, in time rather upwards and
// downwards, so that a full row gives way; an earlier tier stays above a later one in any case.
// False if they do not fit.
function pushApart(boxes, tiers, width, height, gap) {
  // With room for the line around a box.
  const kept = (at, size, room) =>
    clamp(at, size / 2 + RIM, Math.max(room - size / 2 - RIM, size / 2 + RIM));
  const inside = (box) => {
    box.x = kept(box.x, box.width, width);
    box.y = kept(box.y, box.height, height);
  };
  boxes.forEach(inside);
  for (let round = 0; round < 600; round += 1) {
    const shift = boxes.map(() => [0, 0, 0, 0]);
    let met = false;
    for (let a = 0; a < boxes.length; a += 1) {
      for (let b = a + 1; b < boxes.length; b += 1) {
        const [one, two] = [boxes[a], boxes[b]];
        const [first, second] = [tiers[one.node] ?? null, tiers[two.node] ?? null];
        const later = first === null || second === null ? 0 : first - second;
        const apart = (one.y - two.y) * (Math.sign(later) || Math.sign(one.y - two.y));
        const needX = later ? Infinity
          : (one.width + two.width) / 2 + gap - Math.abs(one.x - two.x);
        const needY = (one.height + two.height) / 2 + gap - apart;
        if (needX < 0.1 || needY < 0.1) continue;
        met = true;
        const [axis, need, side] = needX * (1 + round / 60) <= needY ? [0, needX, one.x - two.x]
          : [1, needY, later || one.y - two.y];
        const way = side < 0 ? -1 : 1;
        shift[a][axis] += (way * need) / 2;
        shift[b][axis] -= (way * need) / 2;
        shift[a][2 + axis] += 1;
        shift[b][2 + axis] += 1;
      }
    }
    if (!met) return true;
    boxes.forEach((box, k) => {
      box.x += (0.9 * shift[k][0]) / Math.max(shift[k][2], 1);
      box.y += (0.9 * shift[k][1]) / Math.max(shift[k][3], 1);
      inside(box);
    });
  }
  return false;
}
const range = (values) => [Math.min(...values), Math.max(...values)];
function spread(scene, nodes, width, height) {
  const [left, right] = range(nodes.map((node) => scene.places[node][0]));
  const [top, bottom] = range(nodes.map((node) => scene.places[node][1]));
  // A few columns do not need all of a wide frame.
  const room = { x: Math.min(width, 260 * nodes.length), y: Math.min(height, 120 * nodes.length) };
  return (node, box) => {
    const [x, y] = scene.places[node];
    const across = right > left ? (x - left) / (right - left) : 0.5;
    const down = bottom > top ? (y - top) / (bottom - top) : 0.5;
    return {
      x: (width - room.x) / 2 + box.width / 2 + across * (room.x - box.width),
      y: (height - room.y) / 2 + box.height / 2 + down * (room.y - box.height),
    };
  };
}
// The layout of the columns in a frame: {size, dots, boxes by column}.
function arranged(scene, nodes, width, height) {
  if (!nodes.length) return { dots: false, boxes: new Map() };
  const place = spread(scene, nodes, width, height);
  const { tiers } = scene;
  for (const [size, most, share, gap] of TRIALS) {
    const boxes = nodes.map((node) => {
      const whole = scene.labels[node].length <= most || scene.names[node] === scene.short[node];
      return { node, whole, ...boxOf(whole && most ? scene.labels[node] : [scene.short[node]], size) };
    });
    const taken = boxes.reduce((sum, box) => sum + (box.width + 8) * (box.height + 8), 0);
    if (taken > share * width * height) continue;
    if (boxes.some((box) => box.width + 2 * RIM > width || box.height + 2 * RIM > height)) continue;
    boxes.forEach((box) => Object.assign(box, place(box.node, box)));
    if (pushApart(boxes, tiers, width, height, gap)) {
      return { dots: false, boxes: new Map(boxes.map((box) => [box.node, box])) };
    }
  }
  const dots = nodes.map((node) => ({ node, whole: true, width: 9, height: 9, lines: [] }));
  dots.forEach((box) => Object.assign(box, place(box.node, box)));
  pushApart(dots, tiers, width, height, 5);
  return { dots: true, boxes: new Map(dots.map((box) => [box.node, box])) };
}

// ---- lines: the shortest way between two boxes that meets no third one, with rounded corners

// The least distance of a line from a box that it passes, and where lines turn around the corners
// of boxes: the first is free at the least gap, and later lines take the others.
const CLEAR = 1.5;
const RINGS = [2.4, 6, 11, 17];
// Pixels that a line may be longer to make one turn less, or not to turn where another one does.
const [TURN, SHARED] = [4, 40];
const ROUND = 48;

const within = (point, box, margin) =>
  Math.abs(point.x - box.x) < box.width / 2 + margin &&
  Math.abs(point.y - box.y) < box.height / 2 + margin;
const between = (a, b, t) => ({ x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t });
const far = (a, b) => Math.hypot(b.x - a.x, b.y - a.y);
// Whether a straight piece runs through a box.
function meets(a, b, box, margin) {
  let [low, high] = [0, 1];
  for (const [axis, size] of [["x", "width"], ["y", "height"]]) {
    const [step, half] = [b[axis] - a[axis] || 1e-9, box[size] / 2 + margin];
    const ends = [(box[axis] - half - a[axis]) / step, (box[axis] + half - a[axis]) / step];
    low = Math.max(low, Math.min(...ends));
    high = Math.min(high, Math.max(...ends));
  }
  return low < high;
}
const free = (a, b, boxes, margin = CLEAR) => !boxes.some((box) => meets(a, b, box, margin));
// The corners that a way around boxes may turn at, by distance; none is outside of the drawing.
function corners(boxes, all) {
  const [left, right] = range(all.flatMap(({ x, width }) => [x - width / 2 - RIM, x + width / 2 + RIM]));
  const [top, bottom] = range(all.flatMap(({ y, height }) => [y - height / 2 - RIM, y + height / 2 + RIM]));
  const made = boxes.flatMap(({ node, x, y, width, height }) => RINGS.flatMap((ring) =>
    [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([across, down]) => ({
      key: `${node} ${ring} ${across} ${down}`,
      x: x + across * (width / 2 + ring), y: y + down * (height / 2 + ring),
    }))));
  return made.filter((point) => point.x > left && point.x < right && point.y > top &&
    point.y < bottom && !boxes.some((box) => within(point, box, CLEAR)));
}
// The shortest way past boxes (Dijkstra's algorithm on their corners); null if there is none.
function shortest(from, to, boxes, all, used) {
  const open = [from, to, ...corners(boxes, all)]
    .map((at, k) => ({ at, cost: k ? Infinity : 0, before: null }));
  const goal = open[1];
  while (open.length) {
    const here = open.reduce((best, point) => (point.cost < best.cost ? point : best));
    if (here.cost === Infinity) return null;
    if (here === goal) break;
    open.splice(open.indexOf(here), 1);
    for (const point of open) {
      const extra = point === goal ? 0 : TURN + SHARED * (used.get(point.at.key) ?? 0);
      const cost = here.cost + far(here.at, point.at) + extra;
      if (cost < point.cost && free(here.at, point.at, boxes)) {
        Object.assign(point, { cost, before: here });
      }
    }
  }
  const way = [];
  for (let point = goal; point; point = point.before) way.unshift(point.at);
  return way;
}
// The way from box to box: first a straight line, then around the boxes in its way, and so on.
function wayOf(from, to, boxes, used) {
  const others = boxes.filter((box) => box !== from && box !== to);
  const met = [];
  let way = [from, to];
  for (;;) {
    const hit = others.filter((box) => !met.includes(box) &&
      way.some((point, k) => k && meets(way[k - 1], point, box, CLEAR)));
    if (!hit.length) break;
    met.push(...hit);
    way = shortest(from, to, met, boxes, used);
    // Boxes that the reader has moved onto each other leave no way.
    if (!way) return [from, to];
  }
  for (const { key } of way.slice(1, -1)) used.set(key, (used.get(key) ?? 0) + 1);
  return rounded(way, others);
}
// A way with rounded corners, as small as the boxes require.
function rounded(way, boxes) {
  const points = [way[0]];
  for (let k = 1; k < way.length - 1; k += 1) {
    const [before, corner, after] = way.slice(k - 1, k + 2);
    const [one, two] = [far(before, corner), far(corner, after)];
    for (let radius = Math.min(ROUND, one / 2, two / 2); ; radius /= 2) {
      const [start, end] = [between(corner, before, radius / one), between(corner, after, radius / two)];
      const arc = [...Array(9).keys()].map((step) =>
        between(between(start, corner, step / 8), between(corner, end, step / 8), step / 8));
      if (radius > 1 && !arc.every((point, n) => !n || free(arc[n - 1], point, boxes, 1))) continue;
      points.push(...arc);
      break;
    }
  }
  return [...points, way.at(-1)];
}
// A line without its start, which the box there hides.
function outside(points, box, margin) {
  const first = points.findIndex((point) => !within(point, box, margin));
  if (first < 1) return points;
  let [low, high] = [0, 1];
  const at = (t) => between(points[first - 1], points[first], t);
  for (let step = 0; step < 14; step += 1) {
    const middle = (low + high) / 2;
    if (within(at(middle), box, margin)) low = middle;
    else high = middle;
  }
  return [at(high), ...points.slice(first)];
}
// The point of a line at a distance from its start.
function pointAt(points, distance) {
  for (let k = 1; k < points.length; k += 1) {
    const length = far(points[k - 1], points[k]);
    if (length >= distance) return between(points[k - 1], points[k], distance / (length || 1));
    distance -= length;
  }
  return points.at(-1);
}
const HEAD = 9;
const RING = 4.5;
function drawEnd(end, tip, before, parent, kind) {
  const turn = Math.atan2(tip.y - before.y, tip.x - before.x);
  const at = (back, aside) =>
    `${(tip.x - back * Math.cos(turn) - aside * Math.sin(turn)).toFixed(1)},` +
    `${(tip.y - back * Math.sin(turn) + aside * Math.cos(turn)).toFixed(1)}`;
  if (isHead(end)) {
    const points = `${at(0, 0)} ${at(HEAD, HEAD / 2.4)} ${at(HEAD, -HEAD / 2.4)}`;
    svg("polygon", { points, class: `head ${kind}` }, parent);
  } else if (end === "o") {
    const [cx, cy] = at(RING, 0).split(",");
    svg("circle", { cx, cy, r: RING, class: `ring ${kind}` }, parent);
  }
}
function drawPair(pair, from, to, way, state, graph, parent, away) {
  const points = outside(outside(way, from, 2).reverse(), to, 2).reverse();
  const d = points.map(({ x, y }, k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  const chosen = state.pair && state.pair[0] === pair.i && state.pair[1] === pair.j;
  const group = svg(
    "g",
    { class: `pair${away ? " away" : ""}${chosen ? " chosen" : ""}`, "data-pair": `${pair.i}-${pair.j}`, "data-kind": pair.kind },
    parent
  );
  svg("title", {}, group, said(state.scene, graph, pair));
  if (chosen) svg("path", { d, class: "halo" }, group);
  svg("path", { d, class: "hit" }, group);
  const line = svg("path", { d, class: `line ${pair.kind}` }, group);
  if (pair.width) line.style.strokeWidth = pair.width;
  const turned = [...points].reverse();
  drawEnd(pair.mark[0], points[0], pointAt(points, HEAD), group, pair.kind);
  drawEnd(pair.mark.at(-1), turned[0], pointAt(turned, HEAD), group, pair.kind);
  const sign = { undirected: "?", reversed: state.scene.pag ? "≠" : "⇄" }[pair.kind];
  if (sign) {
    const length = points.reduce((sum, point, k) => sum + (k && far(points[k - 1], point)), 0);
    const { x, y } = pointAt(points, length / 2);
    svg("text", { x, y: y + 4, class: "sign" }, group, sign);
  }
  group.addEventListener("click", (event) => {
    event.stopPropagation();
    state.select([pair.i, pair.j]);
  });
}
const SIGNS = { "->": "→", "<-": "←", "--": "—", "<->": "↔", "o->": "o→", "<-o": "←o", "o-o": "o–o", "--o": "–o", "o--": "o–" };
const TURNED = { "->": "<-", "<-": "->", "o->": "<-o", "<-o": "o->", "o--": "--o", "--o": "o--" };
// The mark of a pair as it is read from one of its columns.
const read = ({ i, mark }, column) => (i === column ? mark : TURNED[mark] ?? mark);
const said = (scene, graph, pair) => {
  const edge = `${scene.names[pair.i]} ${SIGNS[pair.mark] ?? pair.mark} ${scene.names[pair.j]}`;
  const lines = [`${edge}: ${scene.words[pair.kind] ?? pair.kind}`, pair.text];
  if (pair.kind !== "unclear" && (graph.pag || pair.mark.includes("o"))) {
    lines.splice(1, 0, meaning(pair.mark, scene.names[pair.i], scene.names[pair.j]));
  }
  return lines.filter(Boolean).join("\n");
};
// The meaning of the marks of a PAG for two columns.
function meaning(mark, a, b) {
  const [here, there] = [mark[0], mark.at(-1)];
  if (isHead(here) && isHead(there)) {
    return "They share an unobserved confounder; neither causes the other.";
  }
  if (isHead(here)) return meaning(there === "o" ? "o->" : "->", b, a);
  if (isHead(there)) {
    return here === "o" ? `${b} is not a cause of ${a}; the end at ${a} cannot be determined.`
      : `${a} is a cause of ${b}.`;
  }
  if (here === "-" && there === "-") return "Both are causes of the selection of the rows.";
  return "Which causes the other, or whether they share an unobserved confounder, cannot be determined.";
}

// ---- a graph

function drawPane(state, pane) {
  const { scene, view } = state;
  const width = pane.svg.clientWidth;
  const height = pane.svg.clientHeight;
  if (!width || !height) return;
  const sight = inSight(scene, view);
  const focus = focusOf(view, scene.names.length);
  const only = sight && scene.names.length > SMALL;
  const all = scene.names.map((_, node) => node);
  const loose = new Set(all.filter((node) => scene.places[node][1] > 1));
  const near = neighbours(scene, view);
  // Columns without links in any graph are named in one line below.
  const standing = all.filter((node) => !loose.has(node) || near[node].size || sight?.has(node));
  const below = only ? [] : standing.filter((node) => loose.has(node));
  // All panes of one size share the places and the ways of lines.
  const key = [width, height, only ? [...sight].sort() : "", below].join();
  if (state.laid?.key !== key) {
    const rows = !only && loose.size ? Math.max(1, Math.ceil(below.length / 8)) : 0;
    const base = only ? [...sight].sort((a, b) => a - b) : all.filter((node) => !loose.has(node));
    state.laid = { key, ...arranged(scene, base, width, height - rows * ROW_BELOW) };
    below.forEach((node, k) => {
      const [row, at] = [Math.floor(k / 8), k % 8];
      const inRow = Math.min(8, below.length - 8 * row);
      const kept = { whole: true, lines: [], width: 9, height: 9 };
      const fits = [scene.names[node], scene.short[node]].map((name) => boxOf([name], SMALLEST))
        .find((made) => made.width + RIM < width / inRow);
      const box = state.laid.dots || !fits ? kept : { whole: fits.lines[0] === scene.names[node], ...fits };
      const [x, y] = [((at + 0.5) * width) / inRow, height - (rows - row - 0.5) * ROW_BELOW];
      state.laid.boxes.set(node, { node, ...box, x, y });
    });
  }
  const { laid } = state;
  const { k, x: left, y: top } = state.zoom;
  if (laid.k !== k || !laid.ways) {
    Object.assign(laid, { k, ways: new Map(), used: new Map() });
    laid.drawn = new Map(
      [...laid.boxes].map(([node, box]) => {
        const moved = only ? null : state.moved.get(node);
        const at = moved ? { x: moved.x * width, y: moved.y * height } : box;
        return [node, { ...box, x: at.x * k, y: at.y * k }];
      })
    );
  }
  const shifted = (point) => ({ ...point, x: point.x + left, y: point.y + top });
  const boxes = new Map([...laid.drawn].map(([node, box]) => [node, shifted(box)]));
  for (const box of boxes.values()) if (!box.whole) state.shortened.add(box.node);
  const held = pane.svg.getRootNode().activeElement?.dataset?.node;
  pane.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  pane.svg.replaceChildren();
  const shown = (node) => !sight || sight.has(node);
  const list = [...boxes.values()];
  const pairsLayer = svg("g", {}, pane.svg);
  const { pairs, single } = singledOut(state, pane.graph);
  for (const pair of pairs) {
    const [from, to] = [boxes.get(pair.i), boxes.get(pair.j)];
    if (!from || !to) continue;
    const id = `${pair.i}-${pair.j}`;
    if (!laid.ways.has(id)) {
      const ends = [laid.drawn.get(pair.i), laid.drawn.get(pair.j)];
      laid.ways.set(id, wayOf(...ends, [...laid.drawn.values()], laid.used));
    }
    // A path is shown completely; in a neighbourhood, only the links that lead there.
    const aside = !shown(pair.i) || !shown(pair.j);
    if (aside && only) continue;
    const away = aside || (single !== null && !single.has(id));
    drawPair(pair, from, to, laid.ways.get(id).map(shifted), state, pane.graph, pairsLayer, away);
  }
  const labels = laid.dots ? namesOfDots(list, scene, state, focus, near, width, height) : null;
  const layer = svg("g", {}, pane.svg);
  const first = focus?.column ?? standing[0];
  for (const box of list) drawNode(state, pane, box, layer, { shown, focus, first, labels });
  if (held !== undefined) pane.svg.querySelector(`[data-node="${held}"]`)?.focus();
  pane.about.hidden = !focus;
  if (focus) {
    const about = described(scene, pane.graph, view, focus.column);
    pane.about.textContent = `${scene.names[focus.column]} – ${about}`;
  }
}
// The pairs to draw, and the ids of those that the reader has singled out; null for none.  Pairs
// without a line are drawn faintly where they are few.
const FAINT = 60;
function singledOut({ scene, view, group }, graph) {
  const drawn = drawnPairs(scene, graph, view);
  const chosen = graph.groups?.[group]?.pairs;
  if (!chosen) return { pairs: drawn, single: null };
  const single = new Set(chosen.map(([i, j]) => `${i}-${j}`));
  const there = new Set(drawn.map(({ i, j }) => `${i}-${j}`));
  const more = chosen.filter(([i, j]) => !there.has(`${i}-${j}`));
  const faint = more.length > FAINT ? []
    : more.map(([i, j]) => ({ i, j, mark: "--", kind: "unclear" }));
  return { pairs: [...drawn, ...faint], single };
}
// Names next to dots, wherever there is room; columns with the most links first.
function namesOfDots(list, scene, state, focus, near, width, height) {
  const taken = list.map((box) => ({ ...box, width: 10, height: 10 }));
  const places = new Map();
  const rank = (box) =>
    box.node === focus?.column || box.node === state.hover ? Infinity : near[box.node].size;
  for (const box of [...list].sort((a, b) => rank(b) - rank(a) || a.node - b.node)) {
    const text = named(state, box.node, 16);
    const [wide, high] = [widthOf(text, SMALLEST) + 4, SMALLEST * 1.2];
    const sides = [[0, -11], [0, 12], [wide / 2 + 7, 0], [-wide / 2 - 7, 0]];
    for (const [dx, dy] of sides) {
      const label = { x: box.x + dx, y: box.y + dy, width: wide, height: high };
      const inside = label.x > wide / 2 && label.x < width - wide / 2 && label.y > 6 &&
        label.y < height - 6;
      const free = taken.every(
        (other) => other.node === box.node ||
          Math.abs(other.x - label.x) > (other.width + wide) / 2 ||
          Math.abs(other.y - label.y) > (other.height + high) / 2
      );
      if (!inside || !free) continue;
      taken.push(label);
      places.set(box.node, { ...label, text });
      break;
    }
  }
  return places;
}
function drawNode(state, pane, box, layer, { shown, focus, first, labels }) {
  const { scene, view } = state;
  const { node } = box;
  const name = scene.names[node];
  const classes = ["node"];
  if (!shown(node)) classes.push("away");
  if (node === focus?.column || node === focus?.target) classes.push("chosen");
  if (state.pair?.includes(node)) classes.push("marked");
  const group = svg(
    "g",
    {
      class: classes.join(" "),
      role: "button",
      tabindex: node === (state.held ?? first) ? 0 : -1,
      "data-node": node,
      "aria-label": `${name}, ${described(scene, pane.graph, view, node)}`,
    },
    layer
  );
  svg("title", {}, group, name);
  if (labels) {
    svg("circle", { cx: box.x, cy: box.y, r: 4.5 }, group);
    const label = labels.get(node);
    if (label) svg("text", { x: label.x, y: label.y + 4, class: "label" }, group, label.text);
  } else {
    const { width, height } = box;
    svg("rect", { x: box.x - width / 2, y: box.y - height / 2, width, height, rx: 6 }, group);
    const { size } = box;
    box.lines.forEach((line, row) => {
      const y = box.y + size * (0.36 + LINE * (row - (box.lines.length - 1) / 2));
      svg("text", { x: box.x, y, "font-size": size }, group, line);
    });
  }
  group.addEventListener("click", (event) => {
    event.stopPropagation();
    if (!state.dragged) state.look({ focus: focus?.column === node ? "" : `${node}` });
  });
  if (labels && !labels.get(node)) {
    group.addEventListener("pointerenter", () => {
      state.hover = node;
      state.panes.forEach((other) => drawPane(state, other));
    });
  }
}

// Pointer and keys of a pane: all panes move together.
function listen(state, pane) {
  const surface = pane.svg;
  const redraw = () => state.panes.forEach((other) => drawPane(state, other));
  const zoomAt = (factor, x, y) => {
    const { zoom } = state;
    const k = clamp(zoom.k * factor, 0.5, 12);
    zoom.x = x - ((x - zoom.x) * k) / zoom.k;
    zoom.y = y - ((y - zoom.y) * k) / zoom.k;
    zoom.k = k;
    redraw();
  };
  pane.zoom = (factor) => zoomAt(factor, surface.clientWidth / 2, surface.clientHeight / 2);
  // The wheel scrolls the page until the graph is in use.
  surface.addEventListener("wheel", (event) => {
    const active = surface.getRootNode().activeElement;
    if (!event.ctrlKey && !surface.contains(active) && active !== surface) return;
    event.preventDefault();
    zoomAt(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.offsetX, event.offsetY);
  }, { passive: false });
  let drag = null;
  surface.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const node = event.target.closest("[data-node]")?.dataset.node;
    drag = { x: event.clientX, y: event.clientY, node: node === undefined ? null : Number(node) };
    state.dragged = false;
  });
  surface.addEventListener("pointermove", (event) => {
    if (!drag || !event.buttons) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!state.dragged && Math.hypot(dx, dy) < 4) return;
    if (!state.dragged) surface.setPointerCapture(event.pointerId);
    state.dragged = true;
    Object.assign(drag, { x: event.clientX, y: event.clientY });
    if (drag.node === null) {
      state.zoom.x += dx;
      state.zoom.y += dy;
    } else {
      const [width, height] = [surface.clientWidth, surface.clientHeight];
      const box = state.laid.boxes.get(drag.node);
      const at = state.moved.get(drag.node) ?? { x: box.x / width, y: box.y / height };
      const { k } = state.zoom;
      state.moved.set(drag.node, { x: at.x + dx / k / width, y: at.y + dy / k / height });
      state.laid.ways = null;
    }
    redraw();
  });
  surface.addEventListener("pointerup", () => (drag = null));
  surface.addEventListener("click", () => {
    if (state.dragged) return;
    state.select(null);
    if (state.view.focus) state.look({ focus: "" });
  });
  surface.addEventListener("focusin", (event) => {
    const { node } = event.target.dataset;
    if (node === undefined) return;
    state.held = Number(node);
    for (const other of surface.querySelectorAll("[data-node]")) {
      other.setAttribute("tabindex", other === event.target ? 0 : -1);
    }
  });
  surface.addEventListener("keydown", (event) => {
    const node = event.target.dataset.node;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "+" || event.key === "=") pane.zoom(1.25);
    else if (event.key === "-") pane.zoom(0.8);
    else if (event.key === "Escape") state.look({ focus: "" });
    else if ((event.key === "Enter" || event.key === " ") && node !== undefined) {
      const same = focusOf(state.view, state.scene.names.length)?.column === Number(node);
      state.look({ focus: same ? "" : node });
    } else if (event.key in steps && node !== undefined) step(surface, event.target, steps[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}
// To the nearest column in a direction.
function step(surface, from, [across, down]) {
  const middle = (element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  };
  const here = middle(from);
  let [best, least] = [null, Infinity];
  for (const other of surface.querySelectorAll("[data-node]:not(.away)")) {
    const { x, y } = middle(other);
    const ahead = (x - here.x) * across + (y - here.y) * down;
    const aside = Math.abs((x - here.x) * down) + Math.abs((y - here.y) * across);
    if (other === from || ahead <= 1) continue;
    if (ahead + 2 * aside < least) [best, least] = [other, ahead + 2 * aside];
  }
  best?.focus();
}

// ---- the matrix: filled where the first graph has a link, outlined where the second has one

function drawMatrix(state, place) {
  const { scene, view } = state;
  const sight = inSight(scene, view);
  const near = neighbours(scene, view);
  const order = scene.order.filter((node) => (sight ? sight.has(node) : near[node].size));
  place.replaceChildren();
  if (!order.length) return html("p", { class: "note" }, place, "No column has a link.");
  const size = SMALLEST + 1;
  const wide = Math.min(150, 12 + Math.max(...order.map((n) => widthOf(named(state, n, 22), size))));
  const cell = clamp(Math.floor((place.clientWidth - wide - 20) / order.length), 13, 26);
  const side = cell * order.length;
  const box = html("div", { class: "matrix", tabindex: 0, role: "region", "aria-label": "Matrix of links: from the row to the column" }, place);
  box.style.gridTemplateColumns = `${wide}px ${side}px`;
  const corner = html("div", { class: "corner" }, box);
  html("span", {}, corner, "row → column");
  const top = html("div", { class: "top" }, box);
  const left = html("div", { class: "left" }, box);
  const focus = focusOf(view, scene.names.length);
  order.forEach((node, k) => {
    const name = named(state, node, 22);
    const head = html("span", { title: scene.names[node] }, top, name);
    head.style.width = `${cell}px`;
    const row = html("button", { type: "button", tabindex: k ? -1 : 0, "data-row": node }, left, name);
    row.style.height = `${cell}px`;
    row.setAttribute("aria-label", `${scene.names[node]}, ${described(scene, scene.graphs[0], view, node)}`);
    if (node === focus?.column) row.classList.add("chosen");
    row.addEventListener("click", () => state.look({ focus: focus?.column === node ? "" : `${node}` }));
  });
  left.addEventListener("keydown", (event) => {
    const step = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" }[event.key];
    if (!step) return;
    event.preventDefault();
    event.target[step]?.focus();
  });
  const body = svg("svg", { width: side, height: side, role: "img", class: "cells" }, box);
  body.setAttribute("aria-label", scene.graphs.map((graph) => graph.alt).join("; "));
  const row = svg("rect", { width: side, height: cell, class: "cross", x: 0, y: -cell }, body);
  const column = svg("rect", { width: cell, height: side, class: "cross", x: -cell, y: 0 }, body);
  for (let k = 0; k <= order.length; k += 1) {
    const at = k * cell;
    svg("line", { x1: 0, x2: side, y1: at, y2: at, class: "grid" }, body);
    svg("line", { y1: 0, y2: side, x1: at, x2: at, class: "grid" }, body);
  }
  order.forEach((_, k) => svg("rect", { x: k * cell, y: k * cell, width: cell, height: cell, class: "same" }, body));
  const at = new Map(order.map((node, k) => [node, k]));
  const cells = new Map();
  scene.graphs.slice(0, 2).forEach((graph, which) => {
    for (const pair of graph.pairs) {
      if (pair.kind === "missing" || pair.kind === "unclear") continue;
      const [head, tail] = [pair.mark.at(-1), pair.mark[0]];
      const directed = isHead(head) !== isHead(tail);
      const lines = head === "-" && tail === "-";
      for (const [from, to] of [[pair.i, pair.j], [pair.j, pair.i]]) {
        if (!at.has(from) || !at.has(to)) continue;
        const [, end] = endsAt(pair, from);
        // Of a PAG a cell has the mark at its column, and is empty where that is a tail.
        const drawn = graph.pag ? end !== "-" || lines : !directed || isHead(end);
        if (!drawn && !graph.pag) continue;
        const shape = !graph.pag ? (directed ? "square" : "round")
          : end === "o" ? "ring" : lines ? "round" : "square";
        const id = `${from} ${to}`;
        if (!cells.has(id)) cells.set(id, { from, to, pairs: [] });
        cells.get(id).pairs[which] = { ...pair, directed, drawn, shape };
      }
    }
  });
  for (const { from, to, pairs } of cells.values()) {
    const [x, y] = [at.get(to) * cell, at.get(from) * cell];
    const group = svg("g", { class: "cell" }, body);
    pairs.forEach((pair, which) => {
      if (!pair.drawn) return;
      const inset = which ? 1.5 : 4;
      const shape = { x: x + inset, y: y + inset, width: cell - 2 * inset, height: cell - 2 * inset };
      // Round where the graph has no arrow, and hollow for a circle.
      const rx = pair.shape === "square" ? 1 : cell / 2;
      const kind = which && pairs[0] ? pairs[0].kind : pair.kind;
      if (pair.shape === "ring" && !which) {
        svg("circle", { cx: x + cell / 2, cy: y + cell / 2, r: Math.max(cell / 2 - 5.5, 2.5), class: `hollow ${kind}` }, group);
      } else {
        svg("rect", { ...shape, rx, class: `${which ? "outline" : "fill"} ${kind}` }, group);
      }
    });
    group.addEventListener("click", () => state.select([Math.min(from, to), Math.max(from, to)]));
  }
  const about = state.matrixAbout;
  body.addEventListener("pointermove", (event) => {
    const [k, l] = [Math.floor(event.offsetY / cell), Math.floor(event.offsetX / cell)];
    if (!(k >= 0 && k < order.length && l >= 0 && l < order.length)) return;
    row.setAttribute("y", k * cell);
    column.setAttribute("x", l * cell);
    const [from, to] = [order[k], order[l]];
    const here = cells.get(`${from} ${to}`)?.pairs ?? [];
    const words = scene.graphs.slice(0, 2).map((graph, which) => {
      const pair = here[which];
      if (graph.pag && pair) return `${graph.title}: ${SIGNS[read(pair, from)]}`;
      return `${graph.title}: ${pair?.drawn ? (pair.directed ? "→" : "—") : "none"}`;
    });
    about.textContent = `${scene.names[from]}, ${scene.names[to]} – ${words.join(" · ")}`;
  });
  return box;
}

// ---- the bar, and the notes below

const reaches = (pag) => ({
  1: "1 link away", 2: "2 links away", 3: "3 links away",
  parents: pag ? "possible causes" : "parents", to: "paths to …",
});

function drawBar(state) {
  const { scene, view, bar } = state;
  const focus = focusOf(view, scene.names.length);
  const key = JSON.stringify([scene.names, view, scene.graphs.map(onlyThere), scene.pag]);
  if (bar.dataset.key === key) return;
  const held = bar.getRootNode().activeElement?.dataset?.name;
  bar.dataset.key = key;
  bar.replaceChildren();
  // The search and its options stay together where the bar wraps.
  const left = html("div", { class: "part" }, bar);
  const list = html("datalist", { id: "columns" }, left);
  for (const name of scene.names) html("option", { value: name }, list);
  const field = (label, value, choose) => {
    const input = html("input", { type: "search", list: "columns", autocomplete: "off",
      spellcheck: "false", "aria-label": label, placeholder: label, "data-name": label }, left);
    input.value = value;
    const go = () => {
      const found = find(scene.names, input.value);
      input.setCustomValidity(found === null && input.value.trim() ? "No column has this name." : "");
      if (!input.reportValidity()) return;
      if (found !== null) choose(found);
      else if (!input.value.trim()) state.look({ focus: "" });
    };
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") go();
      if (event.key !== "Escape") return;
      input.value = "";
      state.look({ focus: "" });
    });
    // A name chosen from the list, as opposed to typed letters.
    input.addEventListener("input", (event) => {
      input.setCustomValidity("");
      const typed = event.inputType && event.inputType !== "insertReplacementText";
      if (!typed && scene.names.includes(input.value)) go();
    });
    return input;
  };
  const reach = focus && focus.reach !== "1" ? `-${focus.reach}` : "";
  field("Find a column", focus ? scene.names[focus.column] : "", (node) =>
    state.look({ focus: `${node}${focus && focus.reach !== "to" ? reach : ""}` }));
  const button = (text, label, act, name) => {
    const made = html("button", { type: "button", "aria-label": label, title: label, "data-name": name ?? label }, bar, text);
    made.addEventListener("click", act);
    return made;
  };
  if (focus) {
    const select = html("select", { "aria-label": "Neighbourhood to show", "data-name": "reach" }, left);
    for (const [value, text] of Object.entries(reaches(scene.pag))) html("option", { value }, select, text);
    select.value = focus.reach;
    select.addEventListener("change", () => {
      const { value } = select;
      const other = [...neighbours(scene, view)[focus.column]][0] ?? focus.column;
      const code = value === "1" ? "" : value === "to" ? `-to-${other}` : `-${value}`;
      state.look({ focus: `${focus.column}${code}` });
    });
    if (focus.target !== null) {
      field("To column", scene.names[focus.target], (node) =>
        state.look({ focus: `${focus.column}-to-${node}` }));
    }
    left.append(button("Show all", "Show all columns", () => state.look({ focus: "" })));
  }
  if (many(scene) && view.as !== "drag") {
    const on = view.links === "all";
    const text = `${on ? "Hide" : "Show"} links only in ${scene.reference}`;
    const made = button(text, text, () => state.look({ links: on ? "" : "all" }), "links");
    made.setAttribute("aria-pressed", String(on));
  }
  html("span", { class: "space" }, bar);
  const views = html("div", { class: "choice", role: "group", "aria-label": "View" }, bar);
  const all = [["graph", "Graph"], ["matrix", "Matrix"], ...(scene.drag ? [["drag", "Drag"]] : [])];
  for (const [as, text] of all) {
    const made = button(text, text, () => state.look({ as }));
    made.setAttribute("aria-pressed", String((view.as || "graph") === as));
    views.append(made);
  }
  // Search, zoom and full screen are of this drawing, and not of what the page draws.
  const drag = view.as === "drag";
  left.hidden = drag;
  if (view.as !== "matrix" && !drag) {
    button("−", "Zoom out", () => state.panes[0].zoom(0.8));
    button("+", "Zoom in", () => state.panes[0].zoom(1.25));
    button("Reset", "Reset view", state.reset);
  }
  if (document.fullscreenEnabled && !drag) {
    const full = button("", "Full screen", () =>
      document.fullscreenElement ? document.exitFullscreen() : state.root.requestFullscreen());
    const d = "M1 5V1h4M9 1h4v4M13 9v4H9M5 13H1V9";
    svg("path", { d, class: "icon" }, svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, full));
  }
  if (held) bar.querySelector(`[data-name="${CSS.escape(held)}"]`)?.focus();
}
function find(names, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return null;
  const folded = names.map((name) => name.trim().toLowerCase());
  for (const test of [(n) => n === wanted, (n) => n.startsWith(wanted), (n) => n.includes(wanted)]) {
    const at = folded.findIndex(test);
    if (at >= 0) return at;
  }
  return null;
}
function drawNotes(state) {
  const { scene, view, notes } = state;
  notes.replaceChildren();
  const near = neighbours(scene, view);
  const folded = scene.names.filter((_, k) => scene.places[k][1] > 1 && !near[k].size);
  if (folded.length) {
    const line = html("p", { class: "note folded" }, notes);
    html("b", {}, line, `${folded.length} column${folded.length > 1 ? "s" : ""} without a link: `);
    line.append(few(folded, 12));
    if (folded.length > 12) line.title = folded.join(", ");
  }
  const kinds = new Set(scene.graphs.flatMap((graph) =>
    drawnPairs(scene, graph, view).map((pair) => pair.kind)));
  if (view.as === "matrix") for (const kind of ["missing", "unclear"]) kinds.delete(kind);
  if (scene.graphs.some((graph) => graph.pag || graph.pairs.some(({ mark }) => mark.includes("o")))) {
    drawMarks(scene, notes);
  }
  if (scene.tiers.length && view.as !== "matrix") {
    html("p", { class: "note time" }, notes, "Time runs downwards: earlier tiers are above later ones.");
  }
  const legend = Object.entries(scene.words);
  if (!legend.length) return;
  const line = html("p", { class: "legend" }, notes);
  for (const [kind, text] of legend) {
    if (!kinds.has(kind)) continue;
    const item = html("span", {}, line);
    const sample = svg("svg", { width: 38, height: 8, "aria-hidden": "true" }, item);
    svg("path", { d: "M0 4H38", class: `line ${kind}` }, sample);
    item.append(text);
  }
  if (scene.reference) html("span", { class: "muted" }, line, `reference: ${scene.reference}`);
  if (view.as === "matrix" && scene.graphs.length > 1) {
    const [one, two] = scene.graphs;
    const shapes = scene.pag ? "square: arrowhead at the column · ring: circle there" : "round: no arrow";
    html("span", { class: "muted" }, line, `filled: ${one.title} · outlined: ${two.title} · ${shapes}`);
  }
}
// How sure the run is of its pairs, in groups that a press singles out.
function drawGroups(state) {
  const { scene, notes } = state;
  const graph = scene.graphs.find(({ groups }) => groups);
  if (!graph) return;
  const line = html("p", { class: "groups", role: "group", "aria-label": "What can be trusted" }, notes);
  html("span", {}, line, "What can be trusted");
  graph.groups.forEach(({ text }, k) => {
    const on = state.group === k;
    const made = html("button", { type: "button", "aria-pressed": String(on),
      title: on ? "Show all again" : "Single these out in the graph" }, line, text);
    made.addEventListener("click", () => {
      state.group = on ? null : k;
      draw(state);
      state.notes.querySelectorAll(".groups button")[k]?.focus();
    });
  });
}
// The whole names of the columns that are drawn with short ones.
function drawShort({ scene, shortened, notes }) {
  if (!shortened.size) return;
  const list = html("dl", { class: "short" }, notes);
  for (const node of [...shortened].sort((a, b) => a - b)) {
    const item = html("div", {}, list);
    html("dt", {}, item, scene.short[node]);
    html("dd", {}, item, scene.names[node]);
  }
}
// The meaning of the marks of a PAG; rare ones only if they are drawn.
function drawMarks(scene, notes) {
  const pags = scene.graphs.filter((graph) => graph.pag);
  const drawn = new Set(pags.flatMap((graph) => graph.pairs.map((pair) => pair.mark)));
  const line = html("p", { class: "legend marks" }, notes);
  for (const [mark, text, always] of scene.marks) {
    if (!always && !drawn.has(mark) && !drawn.has(TURNED[mark])) continue;
    const item = html("span", { "data-mark": mark }, line);
    const sample = svg("svg", { width: 38, height: 12, "aria-hidden": "true" }, item);
    const [left, right] = [{ x: 1, y: 6 }, { x: 37, y: 6 }];
    svg("path", { d: "M3 6H35", class: "line plain" }, sample);
    drawEnd(mark[0], left, right, sample, "plain");
    drawEnd(mark.at(-1), right, left, sample, "plain");
    item.append(text);
  }
}

// ---- the whole drawing

const states = new WeakMap();
// The reader's position, by layout: it survives a redraw of the page.
const places = new Map();
const placesOf = (scene) => {
  const key = JSON.stringify(scene.places);
  if (!places.has(key)) places.set(key, { zoom: { k: 1, x: 0, y: 0 }, moved: new Map() });
  return places.get(key);
};

function make(root, on) {
  const state = { root, on, panes: [], pair: null };
  root.replaceChildren();
  root.classList.add("cv");
  state.bar = html("div", { class: "bar", role: "group", "aria-label": "Graph tools" }, root);
  state.place = html("div", { class: "panes" }, root);
  state.notes = html("div", { class: "notes" }, root);
  state.look = (change) => {
    state.view = { ...state.view, ...change };
    if ("focus" in change) Object.assign(state.zoom, { k: 1, x: 0, y: 0 });
    draw(state);
    on.onView?.(state.view);
  };
  state.select = (pair) => {
    state.pair = pair;
    draw(state);
    on.onPair?.(pair && pair.map((node) => state.scene.columns[node]));
  };
  state.reset = () => {
    Object.assign(state.zoom, { k: 1, x: 0, y: 0 });
    state.moved.clear();
    state.laid = null;
    state.pair = null;
    state.group = null;
    draw(state);
  };
  state.watch = new ResizeObserver(() => draw(state));
  state.watch.observe(root);
  return state;
}
function draw(state) {
  const { scene, view, place } = state;
  font = getComputedStyle(state.root).fontFamily;
  state.shortened = new Set();
  drawBar(state);
  const matrix = view.as === "matrix";
  const drag = view.as === "drag";
  state.notes.hidden = drag;
  const shape = matrix || drag ? view.as : scene.graphs.map((graph) => graph.key).join();
  if (place.dataset.shape !== shape) {
    place.dataset.shape = shape;
    place.replaceChildren();
    place.classList.toggle("one", matrix || scene.graphs.length === 1);
    state.panes = [];
    if (matrix) {
      state.matrixPlace = html("div", { class: "sheet" }, place);
      state.matrixAbout = html("p", { class: "note", role: "status" }, place, "Point at a cell to read it.");
    } else if (!drag) {
      for (const graph of scene.graphs) {
        const figure = html("section", { class: "pane", "data-key": graph.key }, place);
        const title = html("h2", {}, figure);
        const surface = svg("svg", { role: "group" }, figure);
        const about = html("p", { class: "about", role: "status", hidden: "" }, figure);
        const pane = { svg: surface, about, title, graph };
        state.panes.push(pane);
        listen(state, pane);
      }
    }
  }
  state.root.classList.toggle("large", scene.names.length > SMALL);
  if (matrix) drawMatrix(state, state.matrixPlace);
  state.panes.forEach((pane, k) => {
    pane.graph = scene.graphs[k];
    pane.title.textContent = pane.graph.title;
    if (hides(scene, view) && onlyThere(pane.graph)) {
      const count = `${onlyThere(pane.graph)} ${scene.words.missing}, not drawn`;
      html("span", { class: "muted" }, pane.title, ` · ${count}`);
    }
    pane.svg.setAttribute("aria-label", pane.graph.alt);
    drawPane(state, pane);
  });
  drawNotes(state);
  if (!matrix) drawGroups(state);
  drawShort(state);
  state.root.dataset.ready = "1";
}

export function drawGraphs(root, scene, view, on = {}) {
  let state = states.get(root);
  if (!state) {
    state = make(root, on);
    states.set(root, state);
  }
  state.on = on;
  const before = state.scene;
  const { zoom, moved } = placesOf(scene);
  if (state.zoom !== zoom) {
    // Another layout is another data set.
    Object.assign(state, { zoom, moved, held: undefined, pair: null, laid: null });
  }
  // Another run has other groups.
  const groups = (made) => JSON.stringify(made?.graphs.map((graph) => graph.groups));
  if (groups(before) !== groups(scene)) state.group = null;
  state.scene = scene;
  state.view = { focus: "", as: "graph", links: "", ...view };
  if (state.view.as === "drag" && !scene.drag) state.view.as = "graph";
  if (scene.selected !== undefined && String(scene.selected) !== String(before?.selected)) {
    state.pair = scene.selected;
  }
  for (const theme of ["light", "dark"]) root.classList.toggle(theme, scene.theme === theme);
  draw(state);
  return state;
}
