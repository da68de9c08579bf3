// How charts look: lines are told apart by their dashes, for colour means the state of a job.
import type uPlot from "uplot";

// As lines have them, and the legend's marks, in pixels of the page.
const DASHES = [[], [8, 4], [2, 4]];
const WIDTHS = [1.5, 3.5, 6];

/** More lines than there are dashes are thicker. */
function width(n: number): number {
  return WIDTHS[Math.floor(n / DASHES.length) % WIDTHS.length] ?? 1;
}

function style(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function resolved(name: string): string {
  const probe = document.createElement("span");
  probe.className = name;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

/** How much of the ink fills the bars of line `n` of so many: as different as it can be, above all from the bars beside it. */
function shade(n: number, count: number): number {
  const place = n % 2 ? Math.ceil(count / 2) + (n - 1) / 2 : n / 2;
  return 0.95 - (0.75 * place) / Math.max(count - 1, 1);
}

/** How a line looks in a legend: its dashes, and how thick it is. */
function mark(n: number, ink: string): string {
  const [on = 0, off = 0] = DASHES[n % DASHES.length] ?? [];
  const drawn = on ? `repeating-linear-gradient(90deg, ${ink} 0 ${on}px, transparent ${on}px ${on + off}px)` : `linear-gradient(${ink}, ${ink})`;
  return `${drawn} 0 50% / 100% ${Math.ceil(width(n))}px no-repeat`;
}

/** What a reader of the screen says next; a chart has no text of its own there. */
function said(): HTMLElement {
  const known = document.getElementById("chart-said");
  if (known) return known;
  const made = document.createElement("p");
  made.id = "chart-said";
  made.className = "unseen";
  made.setAttribute("role", "status");
  made.setAttribute("data-own", "");
  document.body.append(made);
  return made;
}

/** Move the crosshair of charts, whose points are at `xs`, by a point, with the arrow keys; the values there are said. */
export function step(event: KeyboardEvent, plots: readonly uPlot[], xs: ArrayLike<number | null>): void {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by === undefined || !xs.length) return;
  event.preventDefault();
  const last = xs.length - 1;
  const place = Math.min(Math.max((plots[0]?.cursor.idx ?? last + (by < 0 ? 1 : 0)) + by, 0), last);
  for (const plot of plots) plot.setCursor({ left: plot.valToPos(xs[place] ?? 0, "x"), top: plot.height / 3 });
  const line = said();
  const chart = event.currentTarget as HTMLElement;
  // The legend follows behind the crosshair.
  setTimeout(() => (line.textContent = [...chart.querySelectorAll(".u-series")].map((row) => row.textContent).join(", ")), 100);
}

const DAY = 86_400;
const MINUTES = [1, 2, 5, 10, 15, 30];
/** How far apart the labels of times may be, in seconds; months are of 30 days. */
const STEPS = [...MINUTES, ...MINUTES.map((step) => step * 60), ...[1, 2, 3, 6, 12].map((step) => step * 3600), ...[1, 2, 7, 14].map((step) => step * DAY)];
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000, 12000];
const MONTH = 30 * DAY;

function months(min: number, max: number, step: number): number[] {
  const first = new Date(min * 1000);
  const from = Math.ceil((first.getUTCFullYear() * 12 + first.getUTCMonth()) / step) * step;
  const made: number[] = [];
  for (let month = from, at = min; at <= max; month += step) {
    at = new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1) / 1000;
    made.push(at);
  }
  return made.filter((at) => at >= min && at <= max);
}

/** Round times between two, at least so many seconds apart; where there is no second one, the two themselves. `utc`: whether they are of no zone. */
export function ticks(min: number, max: number, least: number, utc: boolean): number[] {
  const step = STEPS.find((each) => each >= least);
  let made: number[];
  if (step === undefined) made = months(min, max, MONTHS.find((each) => each * MONTH >= least) ?? 12000);
  else {
    const off = utc ? 0 : -60 * new Date(min * 1000).getTimezoneOffset();
    const first = Math.ceil((min + off) / step) * step - off;
    made = Array.from({ length: Math.max(Math.floor((max - first) / step) + 1, 0) }, (_, i) => first + i * step);
  }
  return made.length > 1 ? made : [min, max];
}

/** Writes the times of an axis as the browser's language has them, and the date below the first of each day. `timeZone`: the browser's without one. */
function clock(timeZone?: string): uPlot.Axis.DynamicValues {
  const written = (style: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(undefined, timeZone ? { ...style, timeZone } : style);
  const [exact, short, day, month] = [written({ timeStyle: "medium" }), written({ timeStyle: "short" }), written({ dateStyle: "short" }), written({ year: "numeric", month: "short" })];
  return (_u, seconds) => {
    const every = (seconds[1] ?? 0) - (seconds[0] ?? 0);
    if (every >= DAY) return seconds.map((at) => (every < 28 * DAY ? day : month).format(at * 1000));
    const inMinutes = seconds.every((at) => at % 60 === 0);
    let before = "";
    return seconds.map((at) => {
      const date = day.format(at * 1000);
      const shown = `${(inMinutes ? short : exact).format(at * 1000)}${timeZone && date !== before ? `\n${date}` : ""}`;
      before = date;
      return shown;
    });
  };
}

/** What an axis reaches over: a single point stands in the middle. */
export function around(min: number, max: number, half: number): [number, number] {
  return min === max ? [min - half, max + half] : [min, max];
}

/** What a legend shows of a line: its value at the crosshair, and where there is none the last one. */
export function latest(write: (value: number | null) => string): NonNullable<uPlot.Series["value"]> {
  return (u: uPlot, value: number | null, line: number, at: number | null) => {
    const last = () => Array.from(u.data[line] ?? []).filter((each) => each !== undefined).at(-1);
    return write((at === null ? last() : value) ?? null);
  };
}

// "12:34:56 AM" has room.
const ROOM = 90;
// The last label of an axis of times has room to the right of it.
export const PADDING: uPlot.Padding = [null, 40, null, null];

/** In the colours that the page has now: an axis, one of times, the line of each number, what fills its bars, the legend. */
export function drawing(): { axis: uPlot.Axis; times: (timeZone?: string) => uPlot.Axis; line: (n: number) => uPlot.Series; fill: (n: number, count: number) => string; legend: uPlot.Legend } {
  const ink = resolved("ink");
  const faint = resolved("faint");
  const font = `12px ${style("--font") || "sans-serif"}`;
  const axis = { stroke: ink, font, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1 } };
  return {
    axis,
    times: (timeZone) => ({ ...axis, space: ROOM, splits: (_u, _axis, min, max, every, space) => ticks(min, max, (ROOM * every) / space, timeZone !== undefined), values: clock(timeZone) }),
    // uPlot leaves dashes as they are where a pixel of the page is several of the screen.
    line: (n) => ({ stroke: ink, width: width(n), dash: (DASHES[n % DASHES.length] ?? []).map((length) => length * devicePixelRatio) }),
    fill: (n, count) => ink.replace("rgb(", "rgba(").replace(")", `, ${shade(n, count)})`),
    legend: { live: true, markers: { width: 0, fill: (_, n) => mark(n - 1, ink) } },
  };
}
