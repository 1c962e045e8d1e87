// The curve of quality over the ε slider, or the strip of small graphs: both draw data from Python
// and answer with an ε.
const html = (name, className, parent, text) => {
  const element = document.createElement(name);
  element.className = className;
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
};

function drawGraph(svg, graph, size) {
  const [width, height] = size, margin = 8;
  const place = graph.nodes.map(([a, b]) => [
    margin + ((a + 1) / 2) * (width - 2 * margin),
    margin + ((b + 1) / 2) * (height - 2 * margin),
  ]);
  for (const [i, j, kind] of graph.edges) {
    const [x1, y1] = place[i], [x2, y2] = place[j];
    shape("line", { x1, y1, x2, y2, class: kind }, svg);
  }
  const r = graph.nodes.length > 20 ? 1.8 : 3;
  for (const [cx, cy] of place) shape("circle", { cx, cy, r, class: "node" }, svg);
}

// State that survives when Streamlit redraws the strip: the timer, and the current strip.
const play = { timer: null, data: null, choose: null, draw: null };
const stop = () => {
  clearInterval(play.timer);
  play.timer = null;
};
function start() {
  let next = 0, waited = 0;
  const step = () => {
    const card = play.data.cards[next], last = play.data.cards[next - 1];
    if (card?.ready && (!last || last.here)) {
      waited = 0;
      play.choose(card.epsilon);
      next += 1;
      return;
    }
    // A graph that is still being made is waited for; a choice that came while the page was drawn
    // can be lost, and is made again.
    waited += 1;
    if ((!card && last.here) || waited > 20) {
      stop();
      play.draw();
    } else if (last && !last.here && waited % 3 === 0) play.choose(last.epsilon);
  };
  play.timer = setInterval(step, 1600);
  step();
}

function drawStrip(root, data, choose) {
  Object.assign(play, { data, choose, draw: () => drawStrip(root, play.data, play.choose) });
  // Keyboard users keep their position when the strip is redrawn.
  const held = [...root.querySelectorAll("button")].indexOf(root.getRootNode().activeElement);
  root.replaceChildren();
  const line = html("div", "said", root, data.said);
  if (data.advice) {
    html("span", "advice", line, data.advice.text);
    if (data.advice.button) {
      const use = html("button", "use", line, data.advice.button);
      use.type = "button";
      use.addEventListener("click", () => choose(data.advice.epsilon));
    }
  }
  const strip = html("div", "strip", root);
  strip.setAttribute("role", "group");
  strip.setAttribute("aria-label", data.alt);
  const button = html("button", "play", strip, play.timer ? "❚❚" : "▶");
  button.type = "button";
  button.title = play.timer ? "Pause" : "Play: watch ε fall";
  button.setAttribute("aria-label", button.title);
  button.addEventListener("click", () => {
    if (play.timer) stop();
    else start();
    play.draw();
  });
  for (const card of data.cards) {
    const button = html("button", card.here ? "card now" : "card", strip);
    button.type = "button";
    button.setAttribute("aria-pressed", String(card.here));
    button.setAttribute("aria-label", card.label);
    const svg = shape("svg", { viewBox: "0 0 112 72", class: "small", "aria-hidden": "true" }, button);
    if (card.graph) drawGraph(svg, card.graph, [112, 72]);
    const words = html("span", "words", button);
    html("b", "", words, card.title);
    html("span", "", words, card.text);
    button.addEventListener("click", () => {
      stop();
      choose(card.epsilon);
    });
  }
  if (held >= 0) root.querySelectorAll("button")[held]?.focus({ preventScroll: true });
}

// A request for more would end a running script and send the state of the controls from
// before it; so there is none while the page runs, or just after a user action.
let touched = 0;
for (const kind of ["pointerdown", "keydown"]) {
  addEventListener(kind, () => (touched = Date.now()), { capture: true });
}
const busy = () => {
  const app = document.querySelector("[data-testid=stApp]");
  return Date.now() - touched < 1200 || app?.dataset.testScriptState === "running";
};

const states = new WeakMap();

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".root");
  for (const [name, colour] of Object.entries(data.colours)) {
    root.style.setProperty(`--${name}`, colour);
  }
  const choose = (epsilon) => setTriggerValue("epsilon", epsilon);
  let state = states.get(parentElement);
  if (!state) {
    state = {};
    states.set(parentElement, state);
    state.watch = new ResizeObserver(() => state.draw && state.draw());
    state.watch.observe(parentElement.host || root);
  }
  state.data = data;
  root.toggleAttribute("data-pending", data.again > 0);
  clearInterval(state.again);
  // Repeated until an answer comes: a request sent together with the other part's is lost.
  const ask = () => busy() || setTriggerValue("again", true);
  if (data.again) state.again = setInterval(ask, 1000 * data.again);
  state.draw = () =>
    data.kind === "curve" ? drawCurve(root, data, choose) : drawStrip(root, data, choose);
  state.draw();
  return () => {
    clearInterval(state.again);
    state.watch.disconnect();
    states.delete(parentElement);
  };
}
