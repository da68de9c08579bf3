// What stands above a view whose server is gone: since when, and what then.
import { time } from "./format";

/** Say so, and what comes of it; null: the server answers again. */
export function lost(then: string | null): void {
  document.body.classList.toggle("lost", then !== null);
  const bar = document.getElementById("lost");
  if (!bar) return;
  bar.hidden = then === null;
  bar.textContent = then === null ? "" : `The server has not answered since ${time(Date.now() / 1000)}. ${then}`;
}
