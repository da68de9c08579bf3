// What stands above a view whose server is gone: since when, and what then.
import { time } from "./format";

/** A server is lost that has been silent for so many times as long as it should be. */
export const MISSED = 2.5;

/** Say so, and what comes of it; null: the server answers again. `since`: when it was last heard of, in milliseconds since 1970. */
export function lost(then: string | null, since = 0): void {
  document.body.classList.toggle("lost", then !== null);
  const bar = document.getElementById("lost");
  if (!bar) return;
  bar.hidden = then === null;
  const text = then === null ? "" : `The server has not answered since ${time(since / 1000)}. ${then}`;
  // A reader of the screen says again what is written again.
  if (bar.textContent !== text) bar.textContent = text;
}
