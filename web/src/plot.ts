// A chart of a result: a number over the end of its window, or the first time there is, or the row's place; a line for each value of a column.
import uPlot from "uplot";
import { figure, number } from "./format";
import { around, drawing, latest, PADDING, step } from "./drawing";
import { time, type Choice } from "./choice";
import type { Column } from "./session";
import type { Row } from "./rows";

const HEIGHT = 320;
/** So many pixels of a chart's width are the labels of its axis, and the room behind the last time. */
const BESIDE = 120;
/** An outline would cover what fills a bar that has fewer pixels. */
const OUTLINED = 10;
const exactly = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 15 });
/** More lines could not be told apart. */
export const MOST_LINES = 8;

function seconds(text: string): number {
  return Date.parse(`${text.replace(" ", "T").replace(/Z$/, "")}${text.length > 10 ? "" : "T00:00"}Z`) / 1000;
}

/** What is drawn: where the points are, and the values of each line there. Without a time rows are told apart by `names`, or counted. */
export interface Lines {
  x: number[];
  of: Map<string, (number | null)[]>;
  /** How many lines there would be. */
  all: number;
  timed: boolean;
  names: string[] | null;
  /** How many points are not drawn, for a later one of their line is at the same place. */
  covered: number;
  /** How many rows have no number there. */
  without: number;
}

export function lines(columns: Column[], rows: Row[], { y, by }: Choice, before = 0): Lines {
  const t = time(columns);
  const named = t < 0 && by >= 0;
  const names = named ? [...new Set(rows.map(({ cells }) => cells[by] ?? "NULL"))] : null;
  const place = new Map(names?.map((name, i) => [name, i + 1]));
  const points = new Map<string, Map<number, number>>();
  const xs = new Set<number>();
  let covered = 0;
  let without = 0;
  rows.forEach(({ cells }, row) => {
    const value = cells[y] ?? null;
    const x = t >= 0 ? seconds(cells[t] ?? "") : named ? place.get(cells[by] ?? "NULL")! : before + row + 1;
    if (value === null || !Number.isFinite(Number(value)) || Number.isNaN(x)) {
      without++;
      return;
    }
    const name = by < 0 || named ? (columns[y]?.name ?? "") : (cells[by] ?? "NULL");
    const line = points.get(name) ?? new Map<number, number>();
    if (line.has(x)) covered++;
    points.set(name, line.set(x, Number(value)));
    xs.add(x);
  });
  const x = [...xs].sort((a, b) => a - b);
  const shown = [...points].slice(0, MOST_LINES);
  return { x, of: new Map(shown.map(([name, line]) => [name, x.map((each) => line.get(each) ?? null)])), all: points.size, timed: t >= 0, names, covered, without };
}

/** The width of the bars that stand beside one another at a point. */
function room(x: number[]): number {
  const gaps = x.slice(1).map((each, i) => each - x[i]!);
  return 0.8 * (gaps.length ? Math.min(...gaps) : 1);
}

/** Draws the bars of a line, which is one of `count`. */
function bars(place: number, count: number): uPlot.Series.PathBuilder {
  const width = (u: uPlot) => room(u.data[0] as number[]) / count;
  return uPlot.paths.bars!({
    disp: {
      x0: { unit: 1, values: (u: uPlot) => (u.data[0] as number[]).map((x) => x + (place - count / 2) * width(u)) },
      size: { unit: 1, values: (u: uPlot) => (u.data[0] as number[]).map(() => width(u)) },
    },
  } as unknown as uPlot.Series.BarsPathBuilderOpts);
}

/** Draws rows into an element, anew each time. */
export class Plot {
  private plot: uPlot | null = null;
  private drawn = "";
  private again = (): void => undefined;

  constructor(private readonly root: HTMLElement) {
    root.addEventListener("keydown", (event) => this.plot && step(event, [this.plot], this.plot.data[0]));
    new ResizeObserver(() => {
      const width = this.width();
      if (!this.plot || this.plot.width === width) return;
      this.plot.setSize({ width, height: HEIGHT });
      this.again();
    }).observe(root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.drawn = "";
      this.again();
    });
  }

  private width(): number {
    return Math.max(200, this.root.clientWidth - 2);
  }

  /** About how many pixels wide a bar is. */
  private barWidth(x: number[], count: number): number {
    const wide = room(x);
    return ((this.width() - BESIDE) * wide) / ((x.at(-1) ?? 0) - (x[0] ?? 0) + 1.25 * wide) / Math.max(count, 1);
  }

  clear(): void {
    this.plot?.destroy();
    this.plot = null;
    this.drawn = "";
    this.again = () => undefined;
  }

  /** Draw rows, which stand behind so many others that are not drawn; what is to be said of it. */
  draw(columns: Column[], rows: Row[], chosen: Choice, before = 0): string {
    const { x, of, all, timed, names, covered, without } = lines(columns, rows, chosen, before);
    const data = [x, ...of.values()] as uPlot.AlignedData;
    const outlined = this.barWidth(x, of.size) >= OUTLINED;
    const like = JSON.stringify([chosen, timed, names, outlined, [...of.keys()]]);
    if (this.plot && this.drawn === like) this.plot.setData(data);
    else {
      this.clear();
      this.drawn = like;
      this.make(columns, data, [...of.keys()], chosen.bars, timed, names, outlined);
    }
    this.again = () => void this.draw(columns, rows, chosen, before);
    const said = all > of.size ? [`The first ${of.size} of ${number(all)} lines are drawn.`] : [];
    if (covered) said.push(`${number(covered)} ${covered === 1 ? "row is" : "rows are"} not drawn: a later one is at the same place.`);
    if (without) said.push(`${number(without)} ${without === 1 ? "row has" : "rows have"} no number to draw.`);
    return said.join(" ");
  }

  private make(columns: Column[], data: uPlot.AlignedData, series: string[], barred: boolean, timed: boolean, names: string[] | null, outlined: boolean): void {
    const { axis, times, line, fill, legend } = drawing();
    const utc = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "medium", timeZone: "UTC" });
    const name = (at: number) => names?.[at - 1] ?? number(at);
    const over = (at: number | null) => (at === null ? "-" : timed ? utc.format(at * 1000) : name(at));
    const value = latest((v) => (v === null ? "-" : exactly.format(v)));
    const whole = (u: uPlot, _axis: number, min: number, max: number) => {
      const every = Math.max(1, Math.ceil((max - min) / Math.max(u.width / 90, 1)));
      return (u.data[0] as number[]).filter((at) => at >= min && at <= max && (at - 1) % every === 0);
    };
    const across: uPlot.Axis = timed ? times("UTC") : { ...axis, splits: whole, values: (_, values) => values.map((at) => name(at).slice(0, 12)) };
    const wide = (u: uPlot, min: number | null, max: number | null): [number, number] => {
      const half = barred || names ? room(u.data[0] as number[]) / 1.6 : 0;
      return around((min ?? 0) - half, (max ?? 1) + half, timed ? 30 : 0.5);
    };
    this.root.classList.toggle("barred", barred);
    const markers = barred ? { ...legend.markers, fill: (_: uPlot, n: number) => fill(n - 1, series.length) } : legend.markers;
    this.plot = new uPlot(
      {
        width: this.width(),
        height: HEIGHT,
        padding: PADDING,
        tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
        cursor: { drag: { x: false, y: false }, points: { size: 5 } },
        legend: { ...legend, markers: markers ?? {} },
        scales: { x: { time: timed, range: wide }, y: { range: (_u, min, max) => (min === max ? [Math.min(min, 0), Math.max(max, 1)] : [Math.min(min, 0), Math.max(max, 0) * 1.05]) } },
        axes: [across, { ...axis, size: 80, values: (_, values) => values.map(figure) }],
        series: [
          { label: timed ? (columns[time(columns)]?.name ?? "") : names ? "of" : "row", value: latest(over) },
          ...series.map((label, n) => ({ ...line(n), label, value, spanGaps: true, ...(barred ? { paths: bars(n, series.length), fill: fill(n, series.length), width: outlined ? 1 : 0, dash: [], points: { show: false } } : {}) })),
        ],
      },
      data,
      this.root,
    );
  }
}
