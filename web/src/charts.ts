// Charts of a job's last hour, with one crosshair for all.
import uPlot from "uplot";
import { around, drawing, latest, PADDING, step } from "./drawing";
import { bytes, duration, number } from "./format";

/** As the server sends points: an array of columns by name, `at` in seconds since 1970; null where a figure is not known. */
type Points = Record<string, (number | null)[]>;

interface Chart {
  title: string;
  /** A line for each: the column, and what it is called. */
  lines: [string, string][];
  write: (value: number) => string;
  /** Whether a value is of what has just happened: most moments have none. */
  now?: boolean;
}

/** More points than these would be a thick line. */
const MOST_POINTS = 60;

/** Show the points of a line that has few. */
function few(u: uPlot, line: number): boolean {
  const values: ArrayLike<number | null | undefined> = u.data[line] ?? [];
  return Array.from(values).filter((value) => value !== null && value !== undefined).length <= MOST_POINTS;
}

const CHARTS: Chart[] = [
  { title: "Rows a second", lines: [["rows_in", "read"], ["rows_out", "written"]], write: number },
  { title: "Records that wait", lines: [["lag", "lag"]], write: number },
  {
    title: "Micro-batch",
    lines: [["process", "process"], ["plan", "plan"], ["offsets", "ask for offsets"], ["commit", "commit"]],
    write: (ms) => duration(ms / 1000),
    now: true,
  },
  { title: "State", lines: [["state", "state"]], write: bytes },
  { title: "Heap", lines: [["heap", "heap"]], write: bytes },
];
const HOUR = 3600;
const HEIGHT = 150;
const exactly = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export class Charts {
  private points: Points = {};
  private plots: uPlot[] = [];
  private shown: Chart[] = [];
  private root: HTMLElement | null = null;
  private readonly widths = new ResizeObserver(() => this.resize());

  constructor() {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Draw into an element from now on: a job may go and come again while the page is open, and its charts with it. */
  into(root: HTMLElement | null): void {
    if (root === this.root) return;
    this.widths.disconnect();
    this.plots.forEach((plot) => plot.destroy());
    this.plots = [];
    this.root = root;
    if (root) {
      this.widths.observe(root);
      this.draw();
    }
  }

  /** Forget the points: all come again. */
  clear(): void {
    this.points = {};
  }

  /** Add points that have come, and forget those of more than an hour ago. */
  add(json: string): void {
    const fresh = JSON.parse(json) as Points;
    for (const [name, values] of Object.entries(fresh)) this.points[name] = [...(this.points[name] ?? []), ...values];
    const at = this.points["at"] ?? [];
    const first = at.findIndex((t) => (t ?? 0) >= (at.at(-1) ?? 0) - HOUR);
    if (first > 0) for (const name of Object.keys(this.points)) this.points[name]?.splice(0, first);
    const shown = CHARTS.filter((chart) => chart.lines.some(([name]) => this.points[name]?.some((value) => value !== null)));
    if (shown.length === this.shown.length) this.plots.forEach((plot, i) => plot.setData(this.data(shown[i]!)));
    else {
      this.shown = shown;
      this.draw();
    }
  }

  private data(chart: Chart): uPlot.AlignedData {
    const runs = this.points["rows_in"] ?? [];
    // A line goes on over moments without a value of its own, and ends where the job does.
    const values = (name: string) => (this.points[name] ?? []).map((value, i) => (value === null && chart.now && runs[i] !== null ? undefined : value));
    return [this.points["at"] ?? [], ...chart.lines.map(([name]) => values(name))] as uPlot.AlignedData;
  }

  private width(root: HTMLElement): number {
    return Math.max(200, (root.querySelector<HTMLElement>("figure")?.clientWidth ?? root.clientWidth) - 2);
  }

  private draw(): void {
    const root = this.root;
    if (!root || !this.shown.length) return;
    this.plots.forEach((plot) => plot.destroy());
    root.replaceChildren();
    const { axis, times, line, legend } = drawing();
    const figures = this.shown.map((chart) => {
      const figure = document.createElement("figure");
      figure.tabIndex = 0;
      figure.setAttribute("aria-label", `${chart.title}, in the last hour; the arrow keys move the crosshair`);
      figure.addEventListener("keydown", (event) => step(event, this.plots, this.points["at"] ?? []));
      const caption = document.createElement("figcaption");
      caption.textContent = chart.title;
      figure.append(caption);
      root.append(figure);
      return figure;
    });
    this.plots = this.shown.map((chart, i) => {
      const written = latest((value) => (value === null ? "-" : chart.write(value)));
      return new uPlot(
        {
          width: this.width(root),
          height: HEIGHT,
          padding: PADDING,
          cursor: { sync: { key: "job" }, points: { size: 5 }, drag: { x: false, y: false } },
          legend,
          scales: { x: { time: true, range: (_u, min, max) => around(min, max, 30) }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
          axes: [times(), { ...axis, size: 70, values: (_, values) => values.map((v) => chart.write(v)) }],
          series: [{ label: "at", value: latest((s) => (s === null ? "-" : exactly.format(s * 1000))) }, ...chart.lines.map(([, label], n) => ({ ...line(n), label, value: written, spanGaps: false, ...(chart.now ? { points: { show: few, size: 5 } } : {}) }))],
        },
        this.data(chart),
        figures[i]!,
      );
    });
  }

  private resize(): void {
    if (!this.root) return;
    const width = this.width(this.root);
    this.plots.forEach((plot) => {
      if (plot.width !== width) plot.setSize({ width, height: HEIGHT });
    });
  }
}
