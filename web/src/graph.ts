// Places the boxes of a plan: the server writes them one below the other, each with the ids of those that it takes rows from.
import { Graph, layout } from "@dagrejs/dagre";

const SVG = "http://www.w3.org/2000/svg";
const GAP = 32;
const SCROLLBAR = 18;

function path(points: readonly { x: number; y: number }[]): string {
  return points.map((p, i) => `${i ? "L" : "M"}${p.x.toFixed(1)},${p.y.toFixed(1)}`).join("");
}

/** What decides where boxes are: their sizes, which are joined, and the room that there is. */
function shape(boxes: readonly HTMLElement[], room: number): string {
  return `${room}|` + boxes.map((b) => `${b.id}:${b.offsetWidth}x${b.offsetHeight}:${b.dataset["from"]}`).join("|");
}

/** The places of boxes, from left to right or from top to bottom. */
function laidOut(boxes: readonly HTMLElement[], rankdir: "LR" | "TB"): Graph {
  const plan = new Graph();
  plan.setGraph({ rankdir, nodesep: GAP / 2, ranksep: GAP, marginx: 2, marginy: 2 });
  plan.setDefaultEdgeLabel(() => ({}));
  for (const box of boxes) plan.setNode(box.id, { width: box.offsetWidth, height: box.offsetHeight });
  for (const box of boxes) {
    for (const from of (box.dataset["from"] ?? "").split(" ").filter(Boolean)) plan.setEdge(from, box.id);
  }
  layout(plan);
  return plan;
}

const placed = new WeakMap<HTMLElement, string>();

export function place(): void {
  for (const graph of document.querySelectorAll<HTMLElement>(".graph")) {
    const boxes = [...graph.querySelectorAll<HTMLElement>(".box")];
    graph.classList.add("placed");
    const now = shape(boxes, graph.clientWidth);
    if (placed.get(graph) === now) continue;
    placed.set(graph, now);
    const across = laidOut(boxes, "LR");
    const plan = (across.graph().width ?? 0) <= graph.clientWidth ? across : laidOut(boxes, "TB");
    for (const box of boxes) {
      const { x, y } = plan.node(box.id);
      box.style.left = `${x - box.offsetWidth / 2}px`;
      box.style.top = `${y - box.offsetHeight / 2}px`;
    }
    const { width = 0, height = 0 } = plan.graph();
    graph.style.height = `${height + SCROLLBAR}px`;
    const lines = document.createElementNS(SVG, "svg");
    lines.setAttribute("class", "edges");
    lines.setAttribute("data-own", "");
    lines.setAttribute("aria-hidden", "true");
    lines.setAttribute("width", String(width));
    lines.setAttribute("height", String(height));
    for (const edge of plan.edges()) {
      const points = plan.edge(edge).points ?? [];
      const line = document.createElementNS(SVG, "path");
      line.setAttribute("d", path(points));
      const head = document.createElementNS(SVG, "circle");
      const end = points.at(-1);
      head.setAttribute("cx", String(end?.x ?? 0));
      head.setAttribute("cy", String(end?.y ?? 0));
      head.setAttribute("r", "3");
      lines.append(line, head);
    }
    graph.querySelector("svg.edges")?.remove();
    graph.append(lines);
  }
}
