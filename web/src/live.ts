// What is on the page follows the server: it sends the view anew when something in it has changed, and only that is exchanged.
import { Idiomorph } from "idiomorph";
import { localize } from "./format";
import { lost, MISSED, refused } from "./lost";

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

const STALE = "The page shows the figures of that time, and continues when the server answers.";

/** Whether the server lets this browser in, as far as that is known. */
async function known(address: string): Promise<boolean> {
  const stop = new AbortController();
  const answer = await fetch(address, { headers: { Accept: "text/event-stream" }, signal: stop.signal }).catch(() => null);
  stop.abort();
  return answer?.status !== 401;
}

/** Follow the server from now on. It says something every `alive` seconds, if only that it is there. */
export function follow(view: HTMLElement, address: string, alive: number, follower: Follower): void {
  // A browser has six connections to a server, whatever the number of its tabs: one that nobody sees leaves its own to the others.
  let events: EventSource | null = null;
  let watchdog: number | undefined;
  let heard = Date.now();
  let letIn = true;
  const leave = () => {
    clearTimeout(watchdog);
    events?.close();
    events = null;
  };
  const watch = () => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => {
      if (letIn) lost(STALE, heard);
      // The connection may be dead without an error: a new one tells.
      leave();
      listen();
    }, MISSED * alive * 1000);
  };
  const hear = () => {
    heard = Date.now();
    letIn = true;
    lost(null);
    watch();
  };
  const listen = () => {
    const source = new EventSource(address);
    const on = (name: string, what: (data: string) => void) =>
      source.addEventListener(name, (event) => {
        hear();
        what((event as MessageEvent<string>).data);
      });
    on("open", () => follower.begun());
    on("alive", () => undefined);
    on("view", (html) => {
      exchange(view, html);
      follower.changed();
    });
    on("points", (json) => follower.points(json));
    source.addEventListener("error", () => {
      if (letIn) lost(STALE, heard);
      // What a server has answered ends the connection, one that is gone is looked for again.
      if (source.readyState === EventSource.CLOSED)
        void known(address).then((is) => {
          if (letIn && !is) refused();
          letIn = is;
        });
    });
    events = source;
    watch();
  };
  const attend = () => {
    if (document.hidden) leave();
    else if (!events) listen();
  };
  document.addEventListener("visibilitychange", attend);
  attend();
  // A browser that keeps the page for Back must not keep the connection.
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}
