// Draws the graph whose data stand in this page, and keeps it in step with its sister frames.
// Nothing is animated, so a wish for reduced motion is met as it is.
"use strict";

(async () => {
  const read = (id) => document.getElementById(id).textContent;
  const data = JSON.parse(read("data"));

  const packed = Uint8Array.from(atob(read("library")), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const library = document.createElement("script");
  library.textContent = await new Response(stream).text();
  document.head.append(library);

  const nodes = new vis.DataSet(data.nodes);
  const edges = new vis.DataSet(data.edges);
  const box = document.getElementById("graph");
  const network = new vis.Network(box, { nodes, edges }, data.options);
  Object.assign(window, { nodes, edges, network });
  const about = document.getElementById("about");
  const surface = box.querySelector(".vis-network");
  surface.setAttribute("role", "img");
  surface.setAttribute(
    "aria-label",
    data.caption + ". Arrow keys move the view, plus and minus zoom."
  );

  // ---- places and view: fitted until the viewer moves them, and kept over redraws of the layout
  //
  // What is kept is in the units of the layout and of the fitted view, so that it means the same
  // in a frame of another size.

  const nothing = () => ({ view: null, moved: {}, focus: null });
  const storageKey = data.channel && `graph:${data.channel}:${data.layout}`;
  let kept = nothing();
  try {
    Object.assign(kept, JSON.parse(sessionStorage.getItem(storageKey)));
  } catch {
    // A browser that refuses storage only forgets the view.
  }
  const keep = () => {
    try {
      if (storageKey) sessionStorage.setItem(storageKey, JSON.stringify(kept));
    } catch {
      // As above.
    }
  };

  const MARGIN = 10;
  const stretch = { x: 1, y: 1 };
  let fitted = 1;
  // From the first edge of a box to the last, and how much of it the distances of places take.
  const extent = (axis, side) => {
    const ends = data.nodes.map((node) => {
      const half = network.body.nodes[node.id].shape[side] / 2;
      return { at: node[axis] * stretch[axis], half };
    });
    const low = ends.reduce((a, b) => (b.at - b.half < a.at - a.half ? b : a));
    const high = ends.reduce((a, b) => (b.at + b.half > a.at + a.half ? b : a));
    return {
      size: high.at + high.half - low.at + low.half,
      between: high.at - low.at,
      middle: (high.at + high.half + low.at - low.half) / 2,
    };
  };
  const fit = () => {
    const room = { x: box.clientWidth - 2 * MARGIN, y: box.clientHeight - 2 * MARGIN };
    stretch.x = stretch.y = 1;
    const tight = Math.min(room.x / extent("x", "width").size, room.y / extent("y", "height").size);
    // Of room to spare a little goes to the letters and the rest to distances.
    fitted = tight < 0.75 ? tight : Math.min(0.75 + (tight - 0.75) / 8, 1.2);
    for (const [axis, side] of [["x", "width"], ["y", "height"]]) {
      const { size, between } = extent(axis, side);
      const spare = room[axis] / fitted - size;
      stretch[axis] = between ? Math.max(1, Math.min(1 + spare / between, 5)) : 1;
    }
    fitted = Math.min(
      fitted,
      room.x / extent("x", "width").size,
      room.y / extent("y", "height").size
    );
  };
  const home = () => ({
    position: { x: extent("x", "width").middle, y: extent("y", "height").middle },
    scale: fitted,
  });
  const keptView = () => ({
    position: { x: kept.view.x * stretch.x, y: kept.view.y * stretch.y },
    scale: kept.view.zoom * fitted,
  });
  // The line about a node does not stand on it.
  const stepAside = () => {
    if (kept.focus === null) return;
    const at = network.canvasToDOM(network.getPositions([kept.focus])[kept.focus]);
    about.classList.toggle("above", at.y > box.clientHeight / 2);
  };
  const place = () => {
    if (!box.clientWidth || !box.clientHeight) return;
    fit();
    nodes.update(
      data.nodes.map(({ id, x, y }) => {
        const at = kept.moved[id] || { x, y };
        return { id, x: at.x * stretch.x, y: at.y * stretch.y };
      })
    );
    network.moveTo(kept.view ? keptView() : home());
    bend();
    stepAside();
  };

  // An edge that would run through a node takes the slightest bow that goes round it.
  const BOWS = [0, 0.1, -0.1, 0.2, -0.2, 0.3, -0.3];
  const STEPS = 30;
  const bend = () => {
    const boxes = data.nodes.map(({ id }) => {
      const { x, y, shape } = network.body.nodes[id];
      return { id, x, y, wide: shape.width / 2 + 3, high: shape.height / 2 + 3 };
    });
    const at = new Map(boxes.map((node) => [node.id, node]));
    const side = (pick, sign, axis, half) => pick(...boxes.map((n) => n[axis] + sign * n[half]));
    const [left, right] = [side(Math.min, -1, "x", "wide"), side(Math.max, 1, "x", "wide")];
    const [top, bottom] = [side(Math.min, -1, "y", "high"), side(Math.max, 1, "y", "high")];
    // How many boxes a bow runs through, and whether it leaves the picture; the curve is the one
    // that vis-network draws.
    const hits = (from, to, bow) => {
      const dx = to.x - from.x;
      const dy = to.y - from.y;
      const reach = Math.hypot(dx, dy) * (Math.abs(bow) / 2 + 0.5);
      const angle = Math.atan2(dy, dx) - (Math.PI * bow) / 2;
      const via = { x: from.x + reach * Math.cos(angle), y: from.y + reach * Math.sin(angle) };
      const met = new Set();
      let out = 0;
      for (let step = 1; step < STEPS; step += 1) {
        const t = step / STEPS;
        const x = (1 - t) ** 2 * from.x + 2 * t * (1 - t) * via.x + t * t * to.x;
        const y = (1 - t) ** 2 * from.y + 2 * t * (1 - t) * via.y + t * t * to.y;
        if (x < left || x > right || y < top || y > bottom) out = 1;
        for (const node of boxes) {
          if (Math.abs(x - node.x) < node.wide && Math.abs(y - node.y) < node.high) {
            met.add(node.id);
          }
        }
      }
      met.delete(from.id);
      met.delete(to.id);
      return met.size + out;
    };
    edges.update(
      data.edges.map((edge) => {
        const [from, to] = [at.get(edge.from), at.get(edge.to)];
        // The same side in every graph, whichever way the edge points.
        const sign = edge.from < edge.to ? 1 : -1;
        let [best, fewest] = [0, Infinity];
        for (const bow of BOWS) {
          const count = hits(from, to, bow * sign);
          if (count < fewest) [best, fewest] = [bow * sign, count];
          if (!fewest) break;
        }
        const type = best > 0 ? "curvedCW" : "curvedCCW";
        return {
          id: edge.id,
          smooth: best ? { enabled: true, type, roundness: Math.abs(best) } : false,
        };
      })
    );
  };

  // ---- one node: its neighbours stay, the rest fades

  const FADED = 0.15;
  const names = new Map(data.nodes.map((node) => [node.id, node.title]));
  const faded = (colour) => colour + "26";
  const neighbourhood = (id) => {
    const groups = {};
    const near = new Set([id]);
    for (const edge of data.edges) {
      if (edge.from !== id && edge.to !== id) continue;
      const other = edge.from === id ? edge.to : edge.from;
      near.add(other);
      let group = edge.from === id ? "children" : "parents";
      if (edge.arrows !== "to") group = edge.arrows ? "both ways" : "undirected";
      if (edge.kind !== "plain") {
        group = edge.kind === "missing" ? "only in the reference" : "cannot be told";
      }
      (groups[group] ||= []).push(names.get(other));
    }
    return { groups, near };
  };
  const fade = () => {
    const { groups, near } = kept.focus === null ? {} : neighbourhood(kept.focus);
    const { color: ink } = data.options.nodes.font;
    nodes.update(
      data.nodes.map(({ id }) => {
        const away = near && !near.has(id);
        return { id, opacity: away ? FADED : 1, font: { color: away ? faded(ink) : ink } };
      })
    );
    edges.update(
      data.edges.map(({ id, from, to, color }) => {
        const away = near && from !== kept.focus && to !== kept.focus;
        return {
          id,
          color: { ...color, opacity: away ? FADED : 1 },
          font: { color: away ? faded(ink) : ink, strokeWidth: away ? 0 : 4 },
        };
      })
    );
    about.hidden = !near;
    if (!near) return;
    const text = Object.entries({ parents: ["none"], children: ["none"], ...groups })
      .map(([group, members]) => `${group}: ${members.join(", ")}`)
      .join(" · ");
    about.textContent = `${names.get(kept.focus)} – ${text}`;
    stepAside();
  };
  // ---- sister frames

  const channel = data.channel ? new BroadcastChannel(data.channel) : null;
  const tell = (message) => channel && channel.postMessage({ layout: data.layout, ...message });
  const mark = (chosen) =>
    network.setSelection(
      {
        nodes: chosen.nodes.filter((id) => nodes.get(id)),
        edges: chosen.edges.filter((id) => edges.get(id)),
      },
      { highlightEdges: false }
    );
  const select = (chosen) => {
    const one = chosen.nodes.length === 1 && !chosen.edges.length && names.has(chosen.nodes[0]);
    const focus = one ? chosen.nodes[0] : null;
    if (focus !== kept.focus) {
      kept.focus = focus;
      keep();
      fade();
    }
    mark(chosen);
  };
  const choose = (chosen) => {
    select(chosen);
    tell({ selection: chosen });
  };
  const restart = () => {
    kept = nothing();
    search.value = "";
    fade();
    mark({ nodes: [], edges: [] });
    place();
  };
  const viewMoved = () => {
    const { x, y } = network.getViewPosition();
    kept.view = { x: x / stretch.x, y: y / stretch.y, zoom: network.getScale() / fitted };
    keep();
    tell({ view: kept.view });
  };

  network.on("click", (event) => {
    surface.focus({ preventScroll: true });
    choose({ nodes: event.nodes, edges: event.edges });
  });
  network.on("zoom", viewMoved);
  network.on("dragEnd", (event) => {
    if (!event.nodes.length) return viewMoved();
    const moved = {};
    for (const [id, at] of Object.entries(network.getPositions(event.nodes))) {
      moved[id] = { x: at.x / stretch.x, y: at.y / stretch.y };
    }
    Object.assign(kept.moved, moved);
    keep();
    bend();
    tell({ moved });
    // A node that is dragged is not chosen: several can be moved with the whole graph in sight.
    mark({ nodes: kept.focus === null ? [] : [kept.focus], edges: [] });
  });
  if (channel) {
    channel.onmessage = ({ data: message }) => {
      // Another layout is another data set: its nodes are not ours.
      if (message.layout !== data.layout) return;
      if (message.selection) select(message.selection);
      if (message.moved) Object.assign(kept.moved, message.moved);
      if (message.view) kept.view = message.view;
      if (message.restart) restart();
      else if (message.moved || message.view) place();
    };
  }

  // ---- search

  const search = document.getElementById("search");
  for (const name of names.values()) {
    const option = document.createElement("option");
    option.value = name;
    document.getElementById("names").append(option);
  }
  const find = (text) => {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return null;
    const folded = [...names].map(([id, name]) => [id, name.trim().toLowerCase()]);
    const tests = [
      (name) => name === wanted,
      (name) => name.startsWith(wanted),
      (name) => name.includes(wanted),
    ];
    for (const test of tests) {
      const hit = folded.find(([, name]) => test(name));
      if (hit) return hit[0];
    }
    return null;
  };
  const go = () => {
    const id = find(search.value);
    if (id === null) {
      clear();
      about.textContent = search.value.trim() && "No node has this name.";
      about.hidden = !about.textContent;
      return;
    }
    search.value = names.get(id);
    choose({ nodes: [id], edges: [] });
    // The node with its neighbours, if they can be read together; else the node.
    const { near } = neighbourhood(id);
    network.fit({ nodes: [...near], maxZoomLevel: Math.max(1, fitted) });
    network.moveTo({ scale: network.getScale() * 0.9 });
    if (network.getScale() < 0.7) {
      network.moveTo({ position: network.getPositions([id])[id], scale: 0.9 });
    }
    viewMoved();
    stepAside();
  };
  const clear = () => {
    choose({ nodes: [], edges: [] });
    about.hidden = true;
  };
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") go();
    if (event.key !== "Escape") return;
    search.value = "";
    clear();
  });
  // A name taken from the list, as against letters typed.
  search.addEventListener("input", (event) => {
    const typed = event.inputType && event.inputType !== "insertReplacementText";
    if (!typed && [...names.values()].includes(search.value)) go();
  });

  // ---- keys and buttons

  // The wheel scrolls the page until the graph is in use.
  const wheel = (on) => network.setOptions({ interaction: { zoomView: on } });
  surface.addEventListener("focus", () => wheel(true));
  surface.addEventListener("blur", () => wheel(Boolean(document.fullscreenElement)));
  surface.addEventListener("keyup", (event) => {
    if (event.key.startsWith("Arrow") || "+-=[]".includes(event.key)) viewMoved();
    if (event.key === "Escape") clear();
  });
  const button = (id) => document.getElementById(id);
  const press = (id, action) => button(id).addEventListener("click", action);
  const zoomBy = (factor) => {
    network.moveTo({ scale: network.getScale() * factor });
    viewMoved();
  };
  press("larger", () => zoomBy(1.25));
  press("smaller", () => zoomBy(0.8));
  press("reset", () => {
    restart();
    keep();
    tell({ restart: true });
  });
  if (document.fullscreenEnabled) button("full").hidden = false;
  press("full", () =>
    document.fullscreenElement
      ? document.exitFullscreen()
      : document.documentElement.requestFullscreen()
  );
  document.addEventListener("fullscreenchange", () => {
    const on = Boolean(document.fullscreenElement);
    button("full").setAttribute("aria-pressed", String(on));
    wheel(on);
  });
  press("save", () => {
    const drawn = box.querySelector("canvas");
    const picture = document.createElement("canvas");
    picture.width = drawn.width;
    picture.height = drawn.height;
    const pen = picture.getContext("2d");
    // The canvas itself is transparent.
    pen.fillStyle = data.background;
    pen.fillRect(0, 0, picture.width, picture.height);
    pen.drawImage(drawn, 0, 0);
    picture.toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = (data.caption.replace(/[^a-z0-9]+/gi, "-").toLowerCase() || "graph") + ".png";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }, "image/png");
  });

  network.on("resize", () => requestAnimationFrame(place));
  network.once("afterDrawing", () => {
    place();
    // The ends are marked even where the pair is not adjacent.
    if (data.selected) select({ nodes: data.selected.nodes, edges: [data.selected.edge] });
    else if (kept.focus !== null) {
      fade();
      mark({ nodes: [kept.focus], edges: [] });
    }
    document.body.dataset.ready = "1";
  });
  network.redraw();
})().catch((error) => {
  document.getElementById("graph").textContent =
    "This browser cannot draw the graph; the table of edges says the same.";
  console.error(error);
});
