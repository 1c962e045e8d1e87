// The page: a slider over ε, the curve above it, and both graphs, which graph.js and curve.js draw.
// The reader's view is in the URL, so that links open it and a reload keeps it.
const { scene, steps, start, curve } = JSON.parse(document.getElementById("content").textContent);
const place = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");

// The parts of the view in the URL: the parameter, and its name in the drawing.
const LOOKS = { focus: "focus", view: "as", links: "links" };
const at = { step: start, view: {}, theme: "" };

function read() {
  const words = new URLSearchParams(location.hash.slice(1));
  const step = steps.findIndex(({ epsilon }) => epsilon && epsilon === words.get("epsilon"));
  at.step = step < 0 ? start : step;
  at.theme = ["light", "dark"].includes(words.get("theme")) ? words.get("theme") : "";
  at.view = {};
  for (const [name, drawn] of Object.entries(LOOKS)) {
    if (words.has(name)) at.view[drawn] = words.get(name);
  }
}
function write() {
  const words = new URLSearchParams();
  if (at.step !== start) words.set("epsilon", steps[at.step].epsilon);
  for (const [name, drawn] of Object.entries(LOOKS)) {
    const value = at.view[drawn];
    if (value && value !== "graph") words.set(name, value);
  }
  if (at.theme) words.set("theme", at.theme);
  history.replaceState(null, "", `#${words}`);
}

const element = (name, parent, text) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
};
// The count, which is the answer, in bold.
function say(heading, text) {
  const [count] = /\d+ of \d+/.exec(text) ?? [];
  heading.replaceChildren();
  if (!count) heading.textContent = text;
  else {
    const before = text.indexOf(count);
    heading.append(text.slice(0, before));
    element("strong", heading, count);
    heading.append(text.slice(before + count.length));
  }
}
function tell({ promised, facts }) {
  const part = place("promised");
  part.replaceChildren();
  for (const sentence of promised) element("p", part, sentence);
  const list = element("dl", part);
  for (const [head, text] of facts) {
    element("dt", list, head);
    element("dd", list, text);
  }
}
function drawTop() {
  const { epsilon } = steps[at.step];
  const slider = place("epsilon");
  slider.value = at.step;
  slider.setAttribute("aria-valuetext", `ε = ${epsilon}`);
  place("value").textContent = `ε = ${epsilon}`;
  const value = curve.heights[at.step];
  const text = `you are here: F1 ${value.toFixed(2)}`;
  const here = { at: at.step / (steps.length - 1), value, label: value.toFixed(2), text };
  const alt = `Quality against ε: F1 ${value.toFixed(2)} at ε = ${epsilon}`;
  drawCurve(place("curve"), { ...curve, alt, here }, go);
}
function draw() {
  const step = steps[at.step];
  const theme = at.theme || (dark.matches ? "dark" : "light");
  for (const name of ["light", "dark"]) document.body.classList.toggle(name, name === theme);
  place("theme").textContent = theme === "dark" ? "Light" : "Dark";
  say(place("said"), step.said);
  place("promise").textContent = step.promise;
  tell(step);
  if (curve) drawTop();
  drawGraphs(place("graphs"), { ...scene, graphs: step.graphs, theme }, at.view, {
    onView: (view) => {
      at.view = view;
      write();
    },
  });
}
function go(step) {
  at.step = step;
  write();
  draw();
}

read();
draw();
place("theme").hidden = false;
place("theme").addEventListener("click", () => {
  at.theme = document.body.classList.contains("dark") ? "light" : "dark";
  write();
  draw();
});
if (curve) {
  place("epsilon").addEventListener("input", (event) => go(Number(event.target.value)));
  new ResizeObserver(drawTop).observe(place("curve").parentElement);
}
dark.addEventListener("change", draw);
addEventListener("hashchange", () => {
  read();
  draw();
});
