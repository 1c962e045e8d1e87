// The browser's history, and the keys of presenter mode: what only the browser can do.
const here = () => location.pathname + location.search;
// depth: how many of this app's steps lie behind, so that Undo never leaves the app.
const visit = (window.causalveil ??= {
  address: here(), acted: false, depth: history.state?.causalveil ?? 0,
});
// One step back undoes one action of the user.  Streamlit replaces the URL when a
// control that it binds changes, and adds an entry for each parameter that a run writes: both become one
// entry for each action.
function step(to) {
  if (visit.acted) {
    // The control may have replaced the URL before.
    if (here() !== visit.address) history.replaceState({}, "", visit.address);
    visit.depth += 1;
    visit.push({ causalveil: visit.depth }, "", to);
  } else if (here() !== to) history.replaceState({}, "", to);
  visit.acted = false;
  visit.address = here();
  visit.drawn?.();
}
if (!visit.watching) {
  visit.watching = true;
  const act = () => (visit.acted = true);
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, act, true);
  // A click without a pointer comes from assistive technology.
  addEventListener("click", (event) => event.detail === 0 && act(), true);
  addEventListener("popstate", (event) => {
    visit.acted = false;
    visit.address = here();
    visit.depth = event.state?.causalveil ?? 0;
    visit.drawn?.();
  });
  // Streamlit replaces the state as well as the URL of an entry.
  visit.replace = history.replaceState.bind(history);
  history.replaceState = (state, title, to) =>
    visit.replace({ ...state, causalveil: visit.depth }, title, to);
  visit.push = history.pushState.bind(history);
  history.pushState = (state, title, to) => step(to);
}

// A control that Streamlit binds has moved.
function remember() {
  if (here() !== visit.address) step(here());
}

export default function (component) {
  const { data, parentElement, setTriggerValue, setStateValue } = component;
  // A name for this tab, which a reload keeps: as soon as there is something to lose.
  if (data.keeps) {
    sessionStorage.causalveil ??= crypto.getRandomValues(new Uint32Array(4)).join("-");
  }
  const tab = sessionStorage.causalveil;
  if (tab && visit.tab !== tab) setStateValue("tab", (visit.tab = tab));
  // The URL changes just after the page is drawn.
  setTimeout(remember, 60);
  const root = parentElement.querySelector(".root");
  const [undo, present] = root.querySelectorAll("button");
  visit.drawn = () => (undo.disabled = !visit.depth);
  visit.drawn();
  undo.onclick = () => visit.depth && history.back();
  present.hidden = !data.presents;
  // Known here at once, so that a key that follows is not lost until the page is drawn; what an
  // earlier run said, which may be drawn again, counts no more.
  if (data.run !== visit.run) visit.presenting = data.presenting;
  visit.run = data.run;
  const enter = () => {
    visit.presenting = true;
    document.documentElement.requestFullscreen?.().catch(() => {});
    setTriggerValue("present", true);
  };
  const leave = () => {
    visit.presenting = false;
    if (document.fullscreenElement) document.exitFullscreen();
    setTriggerValue("present", false);
  };
  // In presenter mode this component is all that is left of the top row.
  undo.hidden = data.presenting;
  present.textContent = data.presenting ? "Leave" : "Present";
  present.title = data.presenting ? "Back to the whole page. Key: Esc" : "Full screen, large type. Key: P";
  present.onclick = data.presenting ? leave : enter;
  visit.key = (event) => {
    const at = event.composedPath()[0];
    const writes = at.closest?.("input:not([type=range]), textarea, [contenteditable], [role=combobox]");
    if (writes || event.ctrlKey || event.metaKey || event.altKey || !data.presents) return;
    if (event.key === "p" || event.key === "P") return visit.presenting ? leave() : enter();
    if (!visit.presenting) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -2, ArrowDown: 2 };
    if (event.key === "Escape") leave();
    else if (event.key in steps && at.type !== "range") {
      event.preventDefault();
      setTriggerValue("step", steps[event.key]);
    }
  };
  visit.full = () => {
    if (!document.fullscreenElement && visit.presenting) leave();
  };
  if (!visit.keyed) {
    visit.keyed = true;
    addEventListener("keydown", (event) => visit.key(event));
    addEventListener("fullscreenchange", () => visit.full());
  }
}
