// How charts look: lines are told apart by their dashes, for colour means the state of a job.
import type uPlot from "uplot";

// As lines have them, and the legend's marks.
const DASHES = [[], [8, 4], [2, 4]];
const BORDERS = ["solid", "dashed", "dotted"];
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

// How much of the ink fills the bars of each line.
const SHADES = [0.8, 0.4, 0.15, 0.6, 0.3, 0.08, 0.5, 0.22];

/** Move the crosshair of charts, whose points are at `xs`, by a point, with the arrow keys. */
export function step(event: KeyboardEvent, plots: readonly uPlot[], xs: ArrayLike<number | null>): void {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by === undefined || !xs.length) return;
  event.preventDefault();
  const last = xs.length - 1;
  const place = Math.min(Math.max((plots[0]?.cursor.idx ?? last + (by < 0 ? 1 : 0)) + by, 0), last);
  for (const plot of plots) plot.setCursor({ left: plot.valToPos(xs[place] ?? 0, "x"), top: plot.height / 3 });
}

/** Writes the times of an axis as the browser's language has them, and the date below the first of each day. `timeZone`: the browser's without one. */
function clock(timeZone?: string): uPlot.Axis.DynamicValues {
  const written = (style: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(undefined, timeZone ? { ...style, timeZone } : style);
  const [exact, short, day, month] = [written({ timeStyle: "medium" }), written({ timeStyle: "short" }), written({ dateStyle: "short" }), written({ year: "numeric", month: "short" })];
  return (_u, seconds, _axis, _space, every) => {
    if (every >= 86_400) return seconds.map((at) => (every < 28 * 86_400 ? day : month).format(at * 1000));
    let before = "";
    return seconds.map((at) => {
      const date = day.format(at * 1000);
      const shown = `${(every < 60 ? exact : short).format(at * 1000)}${timeZone && date !== before ? `\n${date}` : ""}`;
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
  return (u: uPlot, value: number | null, line: number, at: number | null) => write((at === null ? u.data[line]?.at(-1) : value) ?? null);
}

// The last label of an axis of times has room to the right of it.
export const PADDING: uPlot.Padding = [null, 40, null, null];

/** In the colours that the page has now: an axis, one of times, the line of each number, what fills its bars, the legend. */
export function drawing(): { axis: uPlot.Axis; times: (timeZone?: string) => uPlot.Axis; line: (n: number) => uPlot.Series; fill: (n: number) => string; legend: uPlot.Legend } {
  const ink = resolved("ink");
  const faint = resolved("faint");
  const font = `12px ${style("--font") || "sans-serif"}`;
  const axis = { stroke: ink, font, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1 } };
  return {
    axis,
    // "12:34:56 AM" has room.
    times: (timeZone) => ({ ...axis, space: 90, values: clock(timeZone) }),
    line: (n) => ({ stroke: ink, width: width(n), dash: DASHES[n % DASHES.length] ?? [] }),
    fill: (n) => ink.replace("rgb(", "rgba(").replace(")", `, ${SHADES[n % SHADES.length]})`),
    legend: { live: true, markers: { width: (_, n) => 2 * width(n - 1), stroke: ink, fill: () => "transparent", dash: (_, n) => BORDERS[(n - 1) % BORDERS.length] ?? "solid" } },
  };
}
