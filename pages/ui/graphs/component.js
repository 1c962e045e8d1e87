// The graphs as a part of the page: the view goes to Python, which stores it in the URL.
const shown = new WeakMap();

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".root");
  const held = shown.get(root) ?? {};
  // What the reader looks at is known here first; what Python says counts once it says another.
  const news = JSON.stringify(data.view) !== JSON.stringify(held.said);
  const view = news || !held.state ? data.view : held.state.view;
  const state = drawGraphs(root, data.scene, view, {
    onView: (changed) => {
      // A step that Undo takes back; see keys.js.
      if (window.causalveil) window.causalveil.acted = true;
      setTriggerValue("view", changed);
    },
    onPair: (pair) => dispatchEvent(new CustomEvent("causalveil-pair", { detail: pair })),
  });
  root.dataset.run = data.run;
  shown.set(root, { state, said: data.view });
}
