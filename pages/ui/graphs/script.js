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
  const surface = box.querySelector(".vis-network");
  surface.setAttribute("role", "img");
  surface.setAttribute(
    "aria-label",
    data.caption + ". Arrow keys move the view, plus and minus zoom."
  );

  // ---- view: fitted until the viewer moves it, and kept over redraws of the same layout

  const storageKey = data.channel && `graph:${data.channel}:${data.layout}`;
  let kept = { view: null, moved: {} };
  try {
    kept = JSON.parse(sessionStorage.getItem(storageKey)) || kept;
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
  const view = () => ({ position: network.getViewPosition(), scale: network.getScale() });
  const fit = () => {
    if (!box.clientWidth) return;
    network.fit();
    // A margin, so that no box touches the edge; and few nodes are not blown up.
    network.moveTo({ scale: Math.min(network.getScale() * 0.94, 1.15) });
  };
  const place = () => (kept.view ? network.moveTo(kept.view) : fit());
  for (const [id, at] of Object.entries(kept.moved)) network.moveNode(Number(id), at.x, at.y);

  // ---- sister frames

  const channel = data.channel ? new BroadcastChannel(data.channel) : null;
  const tell = (message) => channel && channel.postMessage({ layout: data.layout, ...message });
  const select = (chosen) => {
    network.setSelection(
      {
        nodes: chosen.nodes.filter((id) => nodes.get(id)),
        edges: chosen.edges.filter((id) => edges.get(id)),
      },
      { highlightEdges: false }
    );
  };
  const moveNodes = (moved) => {
    Object.assign(kept.moved, moved);
    for (const [id, at] of Object.entries(moved)) network.moveNode(Number(id), at.x, at.y);
  };
  const restart = () => {
    kept = { view: null, moved: {} };
    for (const node of data.nodes) network.moveNode(node.id, node.x, node.y);
    fit();
  };
  const viewMoved = () => {
    kept.view = view();
    keep();
    tell({ view: kept.view });
  };

  network.on("click", (event) => {
    surface.focus({ preventScroll: true });
    tell({ selection: { nodes: event.nodes, edges: event.edges } });
  });
  network.on("zoom", viewMoved);
  network.on("dragEnd", (event) => {
    if (!event.nodes.length) return viewMoved();
    const moved = network.getPositions(event.nodes);
    Object.assign(kept.moved, moved);
    keep();
    tell({ moved, selection: { nodes: event.nodes, edges: [] } });
  });
  if (channel) {
    channel.onmessage = ({ data: message }) => {
      // Another layout is another data set: its nodes are not ours.
      if (message.layout !== data.layout) return;
      if (message.selection) select(message.selection);
      if (message.moved) moveNodes(message.moved);
      if (message.view) {
        kept.view = message.view;
        network.moveTo(message.view);
      }
      if (message.restart) restart();
    };
  }

  // ---- keys and buttons

  // The wheel scrolls the page until the graph is in use.
  surface.addEventListener("focus", () => network.setOptions({ interaction: { zoomView: true } }));
  surface.addEventListener("blur", () => network.setOptions({ interaction: { zoomView: false } }));
  surface.addEventListener("keyup", (event) => {
    if (event.key.startsWith("Arrow") || "+-=[]".includes(event.key)) viewMoved();
  });
  const press = (id, action) => document.getElementById(id).addEventListener("click", action);
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
    document.body.dataset.ready = "1";
  });
  network.redraw();
})().catch((error) => {
  document.getElementById("graph").textContent =
    "This browser cannot draw the graph; the table of edges says the same.";
  console.error(error);
});
