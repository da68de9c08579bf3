// What can be drawn of a result. The chart itself is loaded when the first one is asked for.
import type { Row } from "./rows";
import type { Column } from "./session";

const WHOLE = ["TINYINT", "SMALLINT", "INT", "BIGINT"];
const NUMBERS = [...WHOLE, "DECIMAL", "FLOAT", "DOUBLE"];
const TIMES = ["TIMESTAMP", "TIMESTAMP_LTZ", "DATE"];
const TEXTS = ["STRING", "VARCHAR", "CHAR", "BOOLEAN"];

/** What is drawn: the columns by their places, -1 for none. */
export interface Choice {
  y: number;
  by: number;
  bars: boolean;
}

export function isNumeric(column: Column): boolean {
  return NUMBERS.includes(column.type);
}

/** The columns that can be drawn. */
export function numeric(columns: Column[]): number[] {
  return columns.flatMap((column, i) => (isNumeric(column) ? [i] : []));
}

/** The column that says when: the end of a window, or the first time; -1 for none. */
export function time(columns: Column[]): number {
  const end = columns.findIndex((column) => column.name === "window_end");
  return end >= 0 ? end : columns.findIndex((column) => TIMES.includes(column.type));
}

/** What one would draw first of `rows`: where several have the same time, a text or else a whole number tells them apart. Names have bars. */
export function choice(columns: Column[], rows: Row[]): Choice {
  const t = time(columns);
  const numbers = numeric(columns);
  const text = columns.findIndex((column) => TEXTS.includes(column.type));
  const repeated = new Set(rows.map(({ cells }) => cells[t])).size < rows.length;
  const key = t >= 0 && text < 0 && repeated && numbers.length > 1 ? (numbers.find((i) => WHOLE.includes(columns[i]!.type)) ?? -1) : -1;
  const by = text >= 0 ? text : key;
  return { y: numbers.find((i) => i !== by) ?? -1, by, bars: t < 0 && by >= 0 };
}
