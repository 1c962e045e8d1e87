// Each graph as a network to drag; what they hold is made by networks.py.
const { graphs } = JSON.parse(document.getElementById("content").textContent);
graphs.forEach(({ nodes, edges, options }, k) => {
  const place = document.getElementById(`network-${k}`);
  // A wide frame begins with a wide network.
  const wide = Math.sqrt(place.clientWidth / Math.max(place.clientHeight, 1)) || 1;
  for (const node of nodes) Object.assign(node, { x: node.x * wide, y: node.y / wide });
  const network = new vis.Network(place, { nodes, edges }, options);
  // The whole network fills its frame until the reader takes hold of it.
  let taken = false;
  const fit = () => taken || network.fit();
  network.on("dragStart", () => (taken = true));
  // The wheel scrolls the page until the network is in use.
  network.on("click", () => network.setOptions({ interaction: { zoomView: true } }));
  network.on("zoom", () => (taken = true));
  network.on("stabilized", fit);
  network.once("stabilizationIterationsDone", () => {
    fit();
    place.dataset.ready = "1";
  });
  new ResizeObserver(fit).observe(place);
});
