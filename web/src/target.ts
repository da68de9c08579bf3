// The part of a view that its address names stays in sight while charts above it are still to be drawn.

/** A user who does one of these goes elsewhere. */
const MOVES = ["wheel", "touchmove", "keydown", "pointerdown"];
const SETTLED_MS = 10_000;

/** Show what the address names again whenever the height of `view` changes, until the user moves or all should be drawn. */
export function keepInSight(view: HTMLElement): void {
  if (!location.hash) return;
  const heights = new ResizeObserver(() => document.querySelector(":target")?.scrollIntoView());
  const over = new AbortController();
  const end = () => {
    heights.disconnect();
    over.abort();
  };
  heights.observe(view);
  for (const move of MOVES) addEventListener(move, end, { passive: true, signal: over.signal });
  setTimeout(end, SETTLED_MS);
}
