// The rows of a result: as they are now, and all changes that have led to it.
import type { Piece } from "./session";

/** A row in its place. `changed`: when it came or changed, by performance.now(). */
export interface Row {
  cells: (string | null)[];
  changed: number;
}

export interface Change {
  kind: string;
  cells: (string | null)[];
}

/** One of the table: its number, and those before and after it of the rows with the same cells. */
interface Placed extends Row {
  number: number;
  before: Placed | null;
  after: Placed | null;
}

/** Of so many rows, and changes, the newest are kept. */
export const MOST = 100_000;

// What comes and goes costs the same however much is kept: none of it looks through all rows.
export class Rows {
  /** By number, in the order in which rows have come. */
  private readonly table = new Map<number, Placed>();
  /** Of the rows that have the same cells the last one. */
  private readonly alike = new Map<string, Placed>();
  private last = 0;
  /** No row has a smaller number. */
  private oldest = 1;
  /** The place of a row that was taken back by -U, for the +U that follows. */
  private freed: number | null = null;
  private log: Change[] = [];
  /** How many changes have come. */
  count = 0;
  /** How many rows, and changes, are kept no more. */
  forgotten = 0;
  updates = false;

  add(piece: Piece, now: number): void {
    piece.rows.forEach((cells, i) => this.change(piece.kinds[i] ?? "+I", cells, now));
    if (this.log.length > 2 * MOST) this.log = this.log.slice(-MOST);
  }

  private change(kind: string, cells: (string | null)[], now: number): void {
    this.count += 1;
    this.log.push({ kind, cells });
    if (kind !== "+I") this.updates = true;
    if (kind === "-U" || kind === "-D") {
      this.drop();
      const row = this.alike.get(JSON.stringify(cells));
      if (!row) return;
      this.unlink(row);
      if (kind === "-U") this.freed = row.number;
      else this.table.delete(row.number);
      return;
    }
    if (kind !== "+U") this.drop();
    this.place(this.freed ?? ++this.last, cells, now);
    this.freed = null;
    if (this.table.size > MOST) this.forget();
  }

  private place(number: number, cells: (string | null)[], now: number): void {
    const key = JSON.stringify(cells);
    const before = this.alike.get(key) ?? null;
    const row = { number, cells, changed: now, before, after: null };
    if (before) before.after = row;
    this.alike.set(key, row);
    this.table.set(number, row);
  }

  private unlink({ cells, before, after }: Placed): void {
    if (before) before.after = after;
    if (after) after.before = before;
    else if (before) this.alike.set(JSON.stringify(cells), before);
    else this.alike.delete(JSON.stringify(cells));
  }

  /** No +U has come for the last -U. */
  private drop(): void {
    if (this.freed !== null) this.table.delete(this.freed);
    this.freed = null;
  }

  private forget(): void {
    // A map that is asked for its first entry looks through all that were deleted before it.
    while (!this.table.has(this.oldest)) this.oldest += 1;
    this.unlink(this.table.get(this.oldest)!);
    this.table.delete(this.oldest);
    this.forgotten += 1;
  }

  /** The rows as they are now, from one place to before another; all without them. */
  rows(start = 0, end = this.size): Row[] {
    const found: Row[] = [];
    let place = 0;
    for (const row of this.table.values()) {
      if (place >= end) break;
      if (row.number === this.freed) continue;
      if (place >= start) found.push(row);
      place += 1;
    }
    return found;
  }

  get size(): number {
    return this.table.size - (this.freed === null ? 0 : 1);
  }

  /** How many of the changes are kept. */
  get kept(): number {
    return Math.min(this.log.length, MOST);
  }

  /** The last changes, from one place to before another; all without them. */
  changes(start = 0, end = this.kept): Change[] {
    const first = this.log.length - this.kept;
    return this.log.slice(first + start, first + end);
  }
}
