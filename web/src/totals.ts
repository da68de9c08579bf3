// What all jobs do together, in the head of a view that does not follow the server.
import { localize } from "./format";

const EVERY_MS = 5_000;

/** Ask for it from now on, while somebody looks. A server that is silent is told of elsewhere. */
export function keepTotals(): void {
  const place = document.querySelector<HTMLElement>("[data-ask]");
  const address = place?.dataset["ask"];
  if (!place || !address) return;
  const ask = async () => {
    const answer = document.hidden ? null : await fetch(address, { cache: "no-store" }).catch(() => null);
    // Who is not logged in any more is led to a form.
    if (!answer?.ok || answer.redirected) return;
    const made = new DOMParser().parseFromString(await answer.text(), "text/html").body;
    localize(made);
    if (place.textContent?.trim() !== made.textContent?.trim()) place.replaceChildren(...made.childNodes);
  };
  // A page of an error comes without.
  if (!place.textContent) void ask();
  setInterval(() => void ask(), EVERY_MS);
}
