// What stands above a view whose server is gone: since when, and what then.
import { time } from "./format";

/** A server is lost that has been silent for so many times as long as it should be. */
export const MISSED = 2.5;

/** A button that waits for the server has this attribute. */
const WAITS = "data-waits";

/** Say so, and what comes of it; null: the server answers again. `since`: when it was last heard of, in milliseconds since 1970. */
export function lost(then: string | null, since = 0): void {
  document.body.classList.toggle("lost", then !== null);
  // Nobody would hear what they ask, and the browser would leave the view.
  for (const button of document.querySelectorAll<HTMLButtonElement>(then === null ? `button[${WAITS}]` : "#view form button:enabled")) {
    button.disabled = button.toggleAttribute(WAITS, then !== null);
  }
  const bar = document.getElementById("lost");
  if (!bar) return;
  bar.hidden = then === null;
  const text = then === null ? "" : `The server has not answered since ${time(since / 1000)}. ${then}`;
  // A reader of the screen says again what is written again.
  if (bar.textContent !== text) bar.textContent = text;
}

/** Say that the server asks for a token, which it did not before, and where to give one. */
export function refused(): void {
  const link = document.createElement("a");
  link.href = `/login?to=${encodeURIComponent(location.pathname + location.search)}`;
  link.textContent = "Log in";
  document.getElementById("lost")?.replaceChildren("The server does not know you any more. The page shows earlier figures. ", link, ".");
}
