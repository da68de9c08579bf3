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

/** Of so many rows, and changes, the newest are kept. */
export const MOST = 100_000;

export class Rows {
  /** By number, in the order in which rows have come. */
  private readonly table = new Map<number, Row>();
  /** The numbers of rows that have the same cells. */
  private readonly places = new Map<string, number[]>();
  private last = 0;
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
    const key = JSON.stringify(cells);
    if (kind === "-U" || kind === "-D") {
      this.drop();
      const numbers = this.places.get(key);
      const number = numbers?.pop();
      if (numbers && !numbers.length) this.places.delete(key);
      if (number === undefined) return;
      if (kind === "-U") this.freed = number;
      else this.table.delete(number);
      return;
    }
    if (kind !== "+U") this.drop();
    const number = this.freed ?? ++this.last;
    this.freed = null;
    this.table.set(number, { cells, changed: now });
    const same = this.places.get(key);
    if (same) same.push(number);
    else this.places.set(key, [number]);
    if (this.table.size > MOST) this.forget();
  }

  /** No +U has come for the last -U. */
  private drop(): void {
    if (this.freed !== null) this.table.delete(this.freed);
    this.freed = null;
  }

  private forget(): void {
    const [number, row] = this.table.entries().next().value!;
    const key = JSON.stringify(row.cells);
    const numbers = this.places.get(key) ?? [];
    const left = numbers.filter((each) => each !== number);
    if (left.length) this.places.set(key, left);
    else this.places.delete(key);
    this.table.delete(number);
    this.forgotten += 1;
  }

  /** The rows as they are now. */
  get rows(): Row[] {
    const rows = [...this.table];
    return (this.freed === null ? rows : rows.filter(([number]) => number !== this.freed)).map(([, row]) => row);
  }

  get size(): number {
    return this.table.size - (this.freed === null ? 0 : 1);
  }

  /** The last changes. */
  get changes(): Change[] {
    return this.log.slice(-MOST);
  }
}
