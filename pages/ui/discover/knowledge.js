// Columns in tiers, by pointer or by arrow keys; rules for two columns; and the pair that is selected
// in one of the graphs, whose edge can be forbidden, required or reversed.  With `draw`, the arrows of
// a graph instead: a click on a cause, then on its effect.
const html = (name, className, parent, text) => {
  const element = document.createElement(name);
  element.className = className;
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
};
const button = (className, parent, text, act) => {
  const made = html("button", className, parent, text);
  made.type = "button";
  made.title = text;
  made.addEventListener("click", act);
  return made;
};
const sign = (rule, names) => `${names[rule.a]} ${rule.mark === "->" ? "→" : "–"} ${names[rule.b]}`;
const VERBS = {
  "forbid--": "no edge",
  "forbid->": "no arrow",
  "require--": "edge",
  "require->": "arrow",
};

const states = new WeakMap();
// Milliseconds after the last move until the order is sent.
const TOGETHER = 400;

// The pair that is selected in a graph, and the list of rules or arrows.
function drawPair(root, { data, pair: selected }, say) {
  const { names, draw: arrows } = data;
  const row = html("div", "row", root);
  if (selected) {
    const [a, b] = selected;
    html("span", "", row, `${names[a]} and ${names[b]}:`);
    button("", row, "no edge", say(arrows ? "" : "forbid", a, "--", b));
    button("", row, `${names[a]} → ${names[b]}`, say("require", a, "->", b));
    button("", row, `${names[b]} → ${names[a]}`, say("require", b, "->", a));
    if (!arrows) {
      button("", row, "an edge", say("require", a, "--", b));
      button("", row, "nothing", say("", a, "--", b));
    }
  } else if (!arrows) {
    html("span", "", row, "Click an edge in a graph to forbid, require or reverse it.");
  }
  if (data.rules.length) {
    const list = html("div", "row", root);
    html("span", "", list, arrows ? "Arrows:" : "Rules:");
    for (const rule of data.rules) {
      const verb = arrows ? "" : `${VERBS[rule.verb + rule.mark]} `;
      const chip = button("rule", list, `${verb}${sign(rule, names)} ✕`, say("", rule.a, "--", rule.b));
      chip.setAttribute("aria-label", `${arrows ? "arrow" : rule.verb} ${sign(rule, names)}: remove`);
    }
  }
}

function draw(root, state) {
  const { data, act } = state;
  const { names } = data;
  // An order that the page has not answered yet counts more than the one that it sent before.
  const tiers = state.own ?? data.tiers;
  const placed = new Set(tiers.flat());
  // Lanes of columns: 0 for no tier, then the tiers in order, then a new one.
  const lanes = [names.map((_, k) => k).filter((k) => !placed.has(k)), ...tiers, []];
  const move = (column, to) => {
    const order = tiers.map((tier) => tier.filter((c) => c !== column));
    if (to > order.length) order.push([]);
    if (to > 0) order[to - 1].push(column);
    state.focus = column;
    state.moved = true;
    state.own = order.filter((tier) => tier.length);
    // Moves that follow at once are sent together, as one order.
    clearTimeout(state.timer);
    state.timer = setTimeout(() => act({ do: "order" }), TOGETHER);
    draw(root, state);
  };
  const held = state.focus;
  root.replaceChildren();
  const say = (verb, first, mark, second) => () =>
    act({ do: "rule", verb, a: first, mark, b: second });
  if (data.draw) {
    const row = html("div", "chips", root);
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", "Columns: click a cause, then its effect");
    names.forEach((name, column) => {
      const from = state.from;
      const press = () => {
        state.from = from === null ? column : null;
        if (from !== null && from !== column) say("require", from, "->", column)();
        draw(root, state);
        root.querySelectorAll(".chips button")[column].focus({ preventScroll: true });
      };
      const chip = button(column === from ? "chosen" : "", row, name, press);
      chip.setAttribute("aria-pressed", column === from);
    });
    html("p", "", root, state.from === null
      ? "Click a cause, then its effect." : `${names[state.from]} → ? Click its effect.`);
    drawPair(root, state, say);
    return;
  }
  const box = html("div", "lanes", root);
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Time order of the columns");
  const drawnLanes = lanes.map((columns, lane) => {
    const kind = lane === 0 ? " loose" : lane > tiers.length ? " new" : "";
    const element = html("div", "lane" + kind, box);
    let title = `${lane}`;
    if (lane === 0) title = "any time";
    else if (lane > tiers.length) title = tiers.length ? "later: drop here" : "earliest: drop here";
    else if (lane === 1) title = "1 · earliest";
    else if (lane === tiers.length) title = `${lane} · latest`;
    html("h4", "", element, title);
    const chips = html("div", "chips", element);
    for (const column of columns) {
      const chip = button("chip", chips, names[column], () => {});
      const place = lane === 0 ? "in no tier" : `in tier ${lane} of ${tiers.length}`;
      chip.setAttribute("aria-label", `${names[column]}, ${place}. Left and right arrow keys move the column.`);
      chip.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!step) return;
        event.preventDefault();
        let to = lane + step;
        // A column that is alone in the last tier cannot move to a later one.
        if (to > tiers.length && lane > 0 && columns.length === 1) return;
        if (to < 0 || to > tiers.length + 1) return;
        move(column, to);
      });
      chip.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        chip.setPointerCapture(event.pointerId);
        chip.classList.add("dragged");
        const over = ({ clientX: x, clientY: y }) =>
          drawnLanes.findIndex((other) => {
            const at = other.getBoundingClientRect();
            return x >= at.left && x <= at.right && y >= at.top && y <= at.bottom;
          });
        const show = (found) =>
          drawnLanes.forEach((other, k) => other.classList.toggle("over", k === found && k !== lane));
        const moved = (later) => show(over(later));
        const end = (later) => {
          chip.removeEventListener("pointermove", moved);
          chip.classList.remove("dragged");
          const found = later.type === "pointerup" ? over(later) : -1;
          show(-1);
          if (found >= 0 && found !== lane) move(column, found);
        };
        chip.addEventListener("pointermove", moved);
        chip.addEventListener("pointerup", end, { once: true });
        chip.addEventListener("pointercancel", end, { once: true });
      });
      if (column === held) state.chip = chip;
    }
    return element;
  });

  drawPair(root, state, say);
  if (state.chip) {
    if (state.moved) state.chip.focus({ preventScroll: true });
    state.chip = null;
    state.moved = false;
  }
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".root");
  root.style.setProperty("--muted", data.muted);
  let state = states.get(parentElement);
  if (!state) {
    state = { pair: null, focus: null, from: null, own: null, timer: null, sent: 0 };
    states.set(parentElement, state);
  }
  if (state.data && String(state.data.names) !== String(data.names)) state.own = null;
  state.data = data;
  // Answered: from here on the page's order counts, which may be the one before if this is refused.
  if (!state.timer && data.answered >= state.sent) state.own = null;
  state.act = (what) => {
    clearTimeout(state.timer);
    state.timer = null;
    state.sent = Math.max(Date.now(), state.sent + 1);
    setTriggerValue("act", { ...what, tiers: state.own ?? state.data.tiers, sent: state.sent });
  };
  // Whatever is pressed next comes after the order.
  state.flush = (event) => {
    if (state.timer && !event.composedPath().includes(root)) state.act({ do: "order" });
  };
  if (!state.listen) {
    state.listen = ({ detail }) => {
      state.pair = detail;
      draw(root, state);
    };
    addEventListener("causalveil-pair", state.listen);
    state.pressed = (event) => state.flush(event);
    for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, state.pressed, true);
  }
  draw(root, state);
  return () => {
    removeEventListener("causalveil-pair", state.listen);
    for (const kind of ["pointerdown", "keydown"]) removeEventListener(kind, state.pressed, true);
    states.delete(parentElement);
  };
}
