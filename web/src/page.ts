// The page of a sqlstream server. Without this script it shows what was when it was loaded, and its forms work.
import { Charts } from "./charts";
import { localize } from "./format";
import { place } from "./graph";
import { follow } from "./live";

const view = document.getElementById("view");
if (view) {
  localize(view);
  place();
  addEventListener("resize", place);
  document.fonts.ready.then(place);
  let room: HTMLElement | null = null;
  let drawn: Charts | null = null;
  // A job may go and come again while the page is open, and its charts with it.
  const charts = () => {
    const now = document.getElementById("charts");
    if (now !== room) {
      room = now;
      drawn = now && new Charts(now);
    }
    return drawn;
  };
  const address = view.dataset["live"];
  if (address) follow(view, address, { begun: () => charts()?.clear(), changed: place, points: (json) => charts()?.add(json) });
}
