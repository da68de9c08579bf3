// The page of a sqlstream server. Without this script it shows what was when it was loaded, and its forms work.
import { Charts } from "./charts";
import { localize } from "./format";
import { place } from "./graph";
import { leaveTogether } from "./left";
import { follow } from "./live";
import { keepInSight } from "./target";
import { keepTotals } from "./totals";

leaveTogether();
keepTotals();
const view = document.getElementById("view");
if (view) {
  localize(view);
  place();
  addEventListener("resize", place);
  document.fonts.ready.then(place);
  keepInSight(view);
  // What a button asks before anything happens is closed by Escape, and the button has the focus again.
  view.addEventListener("keydown", (event) => {
    const asked = event.key === "Escape" && (event.target as Element).closest<HTMLDetailsElement>("details.ask[open]");
    if (!asked) return;
    asked.open = false;
    asked.querySelector("summary")?.focus();
  });
  const charts = new Charts();
  const changed = () => {
    place();
    charts.into(document.getElementById("charts"));
  };
  charts.into(document.getElementById("charts"));
  const address = view.dataset["live"];
  if (address) follow(view, address, Number(view.dataset["alive"]), { begun: () => charts.clear(), changed, points: (json) => charts.add(json) });
}
