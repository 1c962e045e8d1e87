// The browser's history, and the keys of presenter mode: what only the browser can do.
const here = () => location.pathname + location.search;
const visit = (window.causalveil ??= { address: here(), moved: false });
if (!visit.watching) {
  visit.watching = true;
  addEventListener("popstate", () => (visit.moved = true));
  // Noted as it happens: how long a history is says nothing once it has its fifty entries.
  const push = history.pushState.bind(history);
  history.pushState = (...entry) => {
    visit.moved = true;
    push(...entry);
  };
  visit.push = push;
}

// Streamlit replaces the address when a control moves.  Back should go one step back, so the
// address before it is put into the history again.
function remember() {
  const now = here();
  if (now !== visit.address) {
    if (!visit.moved) {
      history.replaceState({}, "", visit.address);
      visit.push({}, "", now);
    }
    visit.address = now;
  }
  visit.moved = false;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  // The address changes just after the page is drawn.
  setTimeout(remember, 60);
  const root = parentElement.querySelector(".root");
  const [undo, present] = root.querySelectorAll("button");
  undo.onclick = () => history.back();
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
  present.onclick = enter;
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
