// Who logs out in one tab of a browser has left in all of them: they forget the token together.
const channel = new BroadcastChannel("left");

/** Tell the other tabs, on the page that logging out leads to; any other page is asked for anew when it hears of it, and is the form for a token then. */
export function leaveTogether(): void {
  if (document.querySelector("main[data-left]")) channel.postMessage(null);
  else channel.addEventListener("message", () => location.reload());
}
