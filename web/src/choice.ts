// What can be drawn of a result. The chart itself is loaded when the first one is asked for.
import type { Column } from "./session";

const NUMBERS = ["TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE"];
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

/** What one would draw first. */
export function choice(columns: Column[]): Choice {
  return { y: numeric(columns)[0] ?? -1, by: columns.findIndex((column) => TEXTS.includes(column.type)), bars: false };
}
