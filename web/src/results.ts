// A result: as a table, as its changes, as a chart.
import { choice, isNumeric, numeric, type Choice } from "./choice";
import { number } from "./format";
import type { Plot } from "./plot";
import { MOST, Rows, type Row } from "./rows";
import type { Column, Outcome } from "./session";

const PAGE = 200;
const DRAW_MS = 250;
/** So many rows say what one would draw. */
const TOLD_BY = 1_000;
/** While rows come, a chart has so many of them: all would take too long each time. */
const DRAWN = 10_000;
/** For so long a row that has changed is shown as such. */
const FRESH_MS = 1_500;

type Shape = "table" | "changes" | "chart";

function quoted(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}

/** The most characters of a value that are shown: what is copied or exported has them all. */
const SHOWN = 1_000;

function short(cell: string): string {
  return cell.length <= SHOWN ? cell : `${cell.slice(0, SHOWN)} ... (${number(cell.length)} characters)`;
}

function csv(cells: (string | null)[]): string {
  return cells.map((cell) => (cell === null ? "" : cell === "" || /[",\r\n]/.test(cell) ? quoted(cell) : cell)).join(",");
}

/** A line that a spreadsheet reads. */
function tabbed(cells: (string | null)[]): string {
  return cells.map((cell) => (cell === null ? "" : /["\t\r\n]/.test(cell) ? quoted(cell) : cell)).join("\t");
}

export class Results {
  private columns: Column[] = [];
  private rows = new Rows();
  private shape: Shape = "table";
  private page = -1;
  /** What the user wants drawn; null: what the rows suggest. */
  private chosen: Choice | null = null;
  private plot: Promise<Plot> | null = null;
  private drawing: number | undefined;
  private going: (() => void) | null = null;
  private halted = false;
  /** Whether rows still come. */
  private coming = false;

  /** `told` hears of it when the user pauses, and goes on. */
  constructor(
    private readonly root: HTMLElement,
    told: (paused: boolean) => void,
  ) {
    for (const button of root.querySelectorAll<HTMLButtonElement>("[data-shape]")) {
      button.addEventListener("click", () => this.shaped(button.dataset["shape"] as Shape));
    }
    this.on("pause", () => told((this.paused = !this.halted)));
    this.on("copy", () => void navigator.clipboard.writeText(this.lines(tabbed, "\n")));
    this.on("csv", () => this.download("result.csv", [this.lines(csv, "\r\n") + "\r\n"], "text/csv"));
    this.on("first", () => this.turn(0));
    this.on("before", () => this.turn(Math.max(this.at - 1, 0)));
    this.on("after", () => this.turn(this.at + 1 >= this.pages - 1 ? -1 : this.at + 1));
    this.on("last", () => this.turn(-1));
    for (const name of ["y", "by", "bars"]) {
      this.part<HTMLSelectElement>(name).addEventListener("change", () => {
        this.chosen = { y: Number(this.part<HTMLSelectElement>("y").value), by: Number(this.part<HTMLSelectElement>("by").value), bars: this.part<HTMLSelectElement>("bars").value === "bars" };
        this.draw();
      });
    }
  }

  private part<T extends HTMLElement = HTMLElement>(name: string): T {
    return this.root.querySelector<T>(`[data-part="${name}"]`)!;
  }

  private on(name: string, what: () => void): void {
    this.part(name).addEventListener("click", what);
  }

  /** Show nothing: what is there is of an earlier run. */
  hide(): void {
    this.root.hidden = true;
  }

  /** Show the rows of an outcome as they come, until they end. */
  async show(outcome: Outcome): Promise<void> {
    this.columns = outcome.columns;
    this.rows = new Rows();
    this.page = outcome.kind === "Stream" ? -1 : 0;
    this.chosen = null;
    void this.plot?.then((plot) => plot.clear());
    this.paused = false;
    this.coming = true;
    this.part("pause").hidden = false;
    this.root.hidden = false;
    this.part("changes-tab").hidden = outcome.kind !== "Stream";
    this.part("chart-tab").hidden = !numeric(this.columns).length;
    this.choices();
    if (this.part(`${this.shape}-tab`).hidden) this.shape = "table";
    this.shaped(this.shape);
    try {
      for await (const piece of outcome.changes()) {
        while (this.halted) await new Promise<void>((go) => (this.going = go));
        this.rows.add(piece, performance.now());
        this.soon();
      }
    } finally {
      this.coming = false;
      this.part("pause").hidden = true;
      clearTimeout(this.drawing);
      this.drawing = undefined;
      this.draw();
    }
  }

  /** Whether rows wait at the server. */
  get paused(): boolean {
    return this.halted;
  }

  set paused(paused: boolean) {
    this.halted = paused;
    this.part("pause").textContent = paused ? "Go on" : "Pause";
    if (!paused) {
      this.going?.();
      this.going = null;
    }
  }

  download(name: string, parts: BlobPart[], type: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(parts, { type }));
    link.download = name.split(/[/\\]/).pop() || "result";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  private lines(write: (cells: (string | null)[]) => string, end: string): string {
    const names = this.columns.map((column) => column.name);
    if (this.shape === "changes") return [write(["op", ...names]), ...this.rows.changes().map(({ kind, cells }) => write([kind, ...cells]))].join(end);
    return [write(names), ...this.rows.rows().map(({ cells }) => write(cells))].join(end);
  }

  private shaped(shape: Shape): void {
    this.shape = shape;
    for (const button of this.root.querySelectorAll<HTMLButtonElement>("[data-shape]")) button.setAttribute("aria-pressed", String(button.dataset["shape"] === shape));
    this.part("chart-view").hidden = shape !== "chart";
    this.part("table-view").hidden = shape === "chart";
    this.draw();
  }

  private choices(): void {
    const option = (value: number, text: string) => new Option(text, String(value));
    const y = this.part<HTMLSelectElement>("y");
    const by = this.part<HTMLSelectElement>("by");
    y.replaceChildren(...numeric(this.columns).map((i) => option(i, this.columns[i]!.name)));
    by.replaceChildren(option(-1, "-"), ...this.columns.map((column, i) => option(i, column.name)));
  }

  /** What is drawn of `rows`, as the choices show it. */
  private drawn(rows: Row[]): Choice {
    const drawn = this.chosen ?? choice(this.columns, rows.slice(0, TOLD_BY));
    this.part<HTMLSelectElement>("y").value = String(drawn.y);
    this.part<HTMLSelectElement>("by").value = String(drawn.by);
    this.part<HTMLSelectElement>("bars").value = drawn.bars ? "bars" : "lines";
    return drawn;
  }

  // --- drawing ---------------------------------------------------------------------------------------------------------

  private soon(): void {
    this.drawing ??= setTimeout(() => {
      this.drawing = undefined;
      this.draw();
    }, DRAW_MS);
  }

  private get length(): number {
    return this.shape === "changes" ? this.rows.kept : this.rows.size;
  }

  private get pages(): number {
    return Math.max(1, Math.ceil(this.length / PAGE));
  }

  private get at(): number {
    return this.page < 0 ? this.pages - 1 : Math.min(this.page, this.pages - 1);
  }

  private turn(page: number): void {
    this.page = page;
    this.draw();
  }

  private draw(): void {
    if (!this.columns.length) return;
    this.part("count").textContent = this.count();
    if (this.shape === "chart") {
      void this.chart();
      return;
    }
    const start = this.at * PAGE;
    const now = performance.now();
    const changes = this.shape === "changes";
    const head = [...(changes ? ["op"] : []), ...this.columns.map((column) => column.name)];
    const shown = changes
      ? this.rows.changes(start, start + PAGE).map(({ kind, cells }) => ({ cells: [kind, ...cells], fresh: false }))
      : this.rows.rows(start, start + PAGE).map(({ cells, changed }) => ({ cells, fresh: this.rows.updates && now - changed < FRESH_MS }));
    const numbers = this.columns.map(isNumeric);
    if (changes) numbers.unshift(false);
    const table = document.createElement("table");
    const top = table.createTHead().insertRow();
    head.forEach((name, i) => {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = name;
      if (numbers[i]) cell.className = "number";
      top.append(cell);
    });
    const body = table.createTBody();
    body.className = "rows";
    for (const { cells, fresh } of shown) {
      const row = body.insertRow();
      if (fresh) row.className = "fresh";
      cells.forEach((cell, i) => {
        const place = row.insertCell();
        place.className = `${numbers[i] ? "number" : "text"}${cell === null ? " null" : ""}`;
        place.textContent = cell === null ? "NULL" : short(cell);
      });
    }
    this.part("rows").replaceChildren(table);
    this.part("pages").hidden = this.pages < 2;
    this.part("at").textContent = `${number(start + 1)} to ${number(Math.min(start + PAGE, this.length))}`;
  }

  private async chart(): Promise<void> {
    this.plot ??= import("./plot").then(({ Plot }) => new Plot(this.part("chart")));
    try {
      const plot = await this.plot;
      if (this.shape !== "chart") return;
      const before = this.coming ? Math.max(0, this.rows.size - DRAWN) : 0;
      const rows = this.rows.rows(before);
      const said = plot.draw(this.columns, rows, this.drawn(rows), before);
      this.part("drawn").textContent = before ? `The newest ${number(DRAWN)} rows are drawn while rows come. ${said}` : said;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.plot = null;
      this.part("drawn").textContent = "The server did not send the chart's script.";
    }
  }

  private count(): string {
    const { size, forgotten, count } = this.rows;
    const all = this.shape === "changes" ? `${number(count)} ${count === 1 ? "change" : "changes"}` : `${number(size)} ${size === 1 ? "row" : "rows"}`;
    const left = this.shape === "changes" ? count > MOST : forgotten > 0;
    return left ? `${all}; the newest ${number(MOST)} are kept here` : all;
  }
}
