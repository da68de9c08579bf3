// What is on the page follows the server: it sends the view anew when something in it has changed, and only that is exchanged.
import { Idiomorph } from "idiomorph";
import { localize } from "./format";
import { lost } from "./lost";

/** Parts that a script has made have this attribute, and stay as they are. */
const OWN = "data-own";

function isOwn(node: Node): boolean {
  return node instanceof Element && node.hasAttribute(OWN);
}

function exchange(view: HTMLElement, html: string): void {
  const made = new DOMParser().parseFromString(html, "text/html").getElementById("view");
  if (!made) return;
  localize(made);
  // What the server names, and names no more.
  const isGone = (old: Element) => old.id !== "" && !made.querySelector(`#${CSS.escape(old.id)}`);
  Idiomorph.morph(view, made, {
    // With this, nothing within what has the focus is exchanged: it is for what a user types into.
    ignoreActiveValue: document.activeElement?.matches("input, select, textarea") ?? false,
    callbacks: {
      beforeNodeMorphed: (old: Node) => !isOwn(old),
      beforeNodeRemoved: (old: Node) => !isOwn(old) || isGone(old as Element),
      // What a user has opened stays open, and what a script has placed stays in its place.
      beforeAttributeUpdated: (name: string, node: Element) => !(name === "style" || (name === "open" && node.matches("details"))),
    },
  });
  document.title = view.dataset["title"] ?? document.title;
}

/** What hears of the server: that a connection begins, which tells all anew; that the view has changed; new points of charts, as JSON. */
export interface Follower {
  begun(): void;
  changed(): void;
  points(json: string): void;
}

/** Follow the server from now on. */
export function follow(view: HTMLElement, address: string, follower: Follower): void {
  const listen = (): EventSource => {
    const events = new EventSource(address);
    events.addEventListener("open", () => {
      lost(null);
      follower.begun();
    });
    events.addEventListener("error", () => {
      if (!document.body.classList.contains("lost")) {
        lost("This is how it was then; the page goes on when it answers.");
      }
    });
    events.addEventListener("view", (event) => {
      exchange(view, (event as MessageEvent<string>).data);
      follower.changed();
    });
    events.addEventListener("points", (event) => follower.points((event as MessageEvent<string>).data));
    return events;
  };
  // A browser has six connections to a server, whatever the number of its tabs: one that nobody sees leaves its own to the others.
  let events: EventSource | null = null;
  const attend = () => {
    if (document.hidden) {
      events?.close();
      events = null;
    } else events ??= listen();
  };
  document.addEventListener("visibilitychange", attend);
  attend();
  // A browser that keeps the page for Back must not keep the connection.
  addEventListener("pagehide", () => events?.close());
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}
