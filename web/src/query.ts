// The view of queries: an editor, what its statements answer, saved queries with a form for their parameters.
import { Editor, type Finding } from "./editor";
import { localize, number } from "./format";
import { leaveTogether } from "./left";
import { lost } from "./lost";
import { Results } from "./results";
import { ServerError, Session, type Failure, type Outcome } from "./session";
import { keepTotals } from "./totals";

const DRAFT = "sqlstream.query";
const ASK_AGAIN_MS = 2_000;
/** So often it is asked why no further row comes. */
const QUIET_MS = 10_000;
/** So often it is asked why no row comes. */
const ASK_WHY_MS = 3_000;
const ROWS_COME = "Rows come ...";
/** What goes on has this attribute until something comes of it. */
const GOES_ON = "data-goes-on";
/** The ends of the question whether a job that has changed resumes. */
const RESUMES = ["\nResume with that state?", "\nResume without what is lost?"];

function the<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

function made(tag: string, text: string, name = ""): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = name;
  return element;
}

/** A verdict, as what would be done is to be decided by buttons. */
function written({ said, parts, then }: Verdict): HTMLElement[] {
  const paragraphs = (lines: string[]) => lines.map((line) => made("p", line));
  if (!parts.length) return paragraphs([...said, ...then]);
  const table = document.createElement("table");
  table.className = "parts";
  const top = table.createTHead().insertRow();
  for (const name of ["Kind", "Part", "What becomes of it", "Why"]) top.append(made("th", name));
  const body = table.createTBody();
  for (const [what, name, fate, why] of parts) {
    const row = body.insertRow();
    row.append(made("td", what), made("td", name, "code"), made("td", fate, ["lost", "kept in part"].includes(fate) ? "lost" : ""), made("td", why));
  }
  return [...paragraphs(said), table, ...paragraphs(then)];
}

/** A message before which its place in the text stands: that in its statement, from which the parser counts, is another one. */
function placed(message: string): string {
  return message.replace(/ at line \d+, column \d+/g, "");
}

/** Whether a failure says what a finding says, of the same place. */
function says(failure: Failure | null, { line, column, code, message }: Finding): boolean {
  const location = failure?.location;
  return failure?.code === code && placed(failure.message) === message && location?.line === line && location.column === column;
}

/** Whether the server answers anything. */
function answers(): Promise<boolean> {
  return fetch("/static/icon.svg", { method: "HEAD", cache: "no-store" }).then(
    () => true,
    () => false,
  );
}

/** What would become of a job, as the server says it; of each part: what it is, which, what becomes of it, and why. */
interface Verdict {
  lines: string[];
  said: string[];
  parts: [string, string, string, string][];
  outcome: string | null;
  then: string[];
  running: string | null;
  loses: boolean;
  refused: boolean;
}

class QueryView {
  private readonly said = the("said");
  private readonly status = the("status");
  private readonly verdict = the("verdict");
  private readonly stop = the<HTMLButtonElement>("stop");
  private readonly session: Session;
  private readonly editor: Editor;
  private readonly results = new Results(the("results"), (paused) => (this.status.textContent = paused ? "Paused" : ROWS_COME));
  private readonly parameters = document.getElementById("parameters") as HTMLFormElement | null;
  private readonly saved: string;
  private running = false;
  /** So many milliseconds of the last run were the user's, who had a question to answer. */
  private thought = 0;
  /** The end of what runs. */
  private ending = Promise.resolve();
  /** What the last run has failed with, in the text of the editor. */
  private failure: Failure | null = null;
  /** Which questions the user has answered already. */
  private agreed = (_question: string) => false;
  /** Answers no to what is asked, if something is. */
  private decline: (() => void) | null = null;

  constructor(place: HTMLElement) {
    const source = the<HTMLTextAreaElement>("source");
    this.session = new Session(Number(place.dataset["protocol"]), place.dataset["release"] ?? "", {
      confirm: (question) => (this.agreed(question) ? Promise.resolve(true) : this.asked(question)),
      download: (name, pieces) => this.results.download(name, pieces as BlobPart[], "application/octet-stream"),
      lost: (failure, heard) => (failure ? void this.lost(failure, heard) : lost(null)),
      told: (line, passing) => (passing ? (this.status.textContent = line || (this.running ? "Running ..." : "")) : line && this.say(line).toggleAttribute(GOES_ON, line.endsWith("..."))),
    });
    source.hidden = true;
    this.saved = source.value;
    // What was typed comes back where the page still begins with the same text.
    const draft = JSON.parse(sessionStorage.getItem(DRAFT + location.search) ?? "null") as { of: string; text: string } | null;
    const text = draft?.of === source.value ? draft.text : source.value;
    this.editor = new Editor(place, text, "Statements", this.session, {
      run: () => this.runAll(),
      runStatement: () => void this.runStatement(),
      changed: () => this.outdated(),
      help: (word) => void this.help(word),
      found: (findings) => this.found(findings),
    });
    addEventListener("pagehide", () => sessionStorage.setItem(DRAFT + location.search, JSON.stringify({ of: source.value, text: this.editor.text })));
    the("run").addEventListener("click", () => this.runAll());
    the("run-statement").addEventListener("click", () => void this.runStatement());
    this.stop.addEventListener("click", () => {
      this.results.paused = false;
      this.decline?.();
      this.session.interrupt();
    });
    the<HTMLFormElement>("save").addEventListener("submit", (event) => void this.save(event));
    the<HTMLFormElement>("help").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.help(new FormData(event.target as HTMLFormElement).get("about") as string);
    });
    this.parameters?.addEventListener("submit", (event) => this.runSaved(event));
    this.editor.focus();
    this.editor.look();
  }

  // --- running ---------------------------------------------------------------------------------------------------------

  private async runStatement(): Promise<void> {
    await this.guarded(async () => this.carryOut(this.editor.selected || (await this.editor.statement())));
  }

  /** Run what is selected, or all: a saved query, as long as it is as it was saved, with the values of its form. */
  private runAll(): void {
    if (this.parameters && !this.editor.selected && this.editor.text === this.saved) this.parameters.requestSubmit();
    else void this.run(this.editor.selected || this.editor.text);
  }

  /** Run a text; `seen`: it is the editor's. */
  private run(text: string, seen = true): Promise<void> {
    return this.guarded(() => this.carryOut(text), seen);
  }

  /** Run the saved query that is shown, with the values of its form. */
  private runSaved(event: Event): void {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
    const values = [...new FormData(form)].filter(([, value]) => value !== "").map(([name, value]) => `\`${name}\` => ${quoted(value as string)}`);
    void this.run(`EXECUTE QUERY \`${form.dataset["query"]}\`${values.length ? ` (${values.join(", ")})` : ""}`, false);
  }

  /** Do something that a user has asked for, one thing at a time; what fails is shown, with its place if that can be `seen`. */
  private async guarded(what: () => Promise<void>, seen = true): Promise<void> {
    if (this.decline) {
      // What waits for an answer makes room.
      this.decline();
      await this.ending;
    }
    if (this.running) {
      this.status.textContent = "A statement runs. Stop ends it.";
      return;
    }
    this.running = true;
    let ended = () => {};
    this.ending = new Promise((end) => (ended = end));
    this.stop.disabled = false;
    this.failure = null;
    this.said.replaceChildren();
    this.verdict.replaceChildren();
    this.status.textContent = this.session.open ? "Running ..." : "Connecting ...";
    const began = performance.now();
    this.thought = 0;
    try {
      await what();
      this.status.textContent = `Done in ${number((performance.now() - began - this.thought) / 1000)} s`;
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      this.status.textContent = "Failed";
      this.failed(error.failure, seen);
    } finally {
      this.running = false;
      ended();
      this.stop.disabled = true;
      // What was wrong before it may be right now.
      this.editor.look();
    }
  }

  private async carryOut(text: string): Promise<void> {
    if (!text.trim()) {
      this.say("There is nothing to run.");
      return;
    }
    const said = await this.session.ask("verdicts", { text });
    // As long as no server answers, the last result stays.
    this.results.hide();
    this.status.textContent = "Running ...";
    const verdicts = said["verdicts"] as Verdict[];
    if (verdicts.length && !(await this.accepted(verdicts, said["mistake"] as string | null))) {
      this.say("Nothing was done.");
      return;
    }
    const running = verdicts.flatMap(({ running }) => running ?? []);
    for (const job of running) await this.script(`STOP JOB '${job.replaceAll("'", "''")}'`, () => true);
    const told = new Set(verdicts.flatMap(({ lines }) => lines).flatMap((line) => line.split("\n")));
    // Whether to go on with what is kept: a verdict has said the same.
    await this.script(text, (question) => RESUMES.some((end) => question.endsWith(end)) && question.split("\n").slice(1, -1).every((line) => told.has(line)));
  }

  private async script(text: string, agreed: (question: string) => boolean): Promise<void> {
    this.agreed = agreed;
    let shown = 0;
    try {
      for await (const outcome of this.session.run(text)) {
        this.said.querySelectorAll(`[${GOES_ON}]`).forEach((line) => line.remove());
        for (const notice of outcome.notices) this.say(notice);
        switch (outcome.kind) {
          case "Stream":
          case "Rows":
          case "Figures":
            shown += 1;
            await this.results.show({ ...outcome, changes: this.explained(outcome) });
            break;
          case "Advice":
            for await (const piece of outcome.changes()) for (const row of piece.rows) this.say(row.filter(Boolean).join("  "));
            break;
          case "Text":
            this.said.append(this.pre(outcome.lines));
            break;
          case "Submitted":
          case "Completed":
            this.job(outcome.job, outcome.kind === "Completed");
            break;
          default:
            this.say("Done.");
        }
      }
    } finally {
      if (shown > 1) this.say(`Of ${number(shown)} results the last is shown. Ctrl-Enter runs one statement.`);
      this.agreed = () => false;
    }
  }

  /** The changes of a result; while none come, it is said why. */
  private explained({ kind, changes }: Outcome): Outcome["changes"] {
    const explain = (every: number) => (kind === "Stream" ? this.explain(every) : () => {});
    const come = () => this.results.paused || (this.status.textContent = ROWS_COME);
    return async function* () {
      let stop = explain(ASK_WHY_MS);
      try {
        for await (const piece of changes()) {
          stop();
          come();
          yield piece;
          stop = explain(QUIET_MS);
        }
      } finally {
        stop();
      }
    };
  }

  /** Say why no row comes, asking so often, until that is stopped. */
  private explain(every: number): () => void {
    const place = made("div", "");
    this.said.append(place);
    let told = "";
    let asked = false;
    const asking = setInterval(() => {
      if (asked) return;
      asked = true;
      this.session.ask("reasons").then(
        ({ reasons }) => {
          asked = false;
          if (told === (reasons as string[]).join()) return;
          told = (reasons as string[]).join();
          place.replaceChildren(...(reasons as string[]).map((reason) => made("p", reason, "soft")));
        },
        () => clearInterval(asking),
      );
    }, every);
    return () => {
      clearInterval(asking);
      place.remove();
    };
  }

  /** Show what would become of jobs, and wait for the user. */
  private accepted(verdicts: Verdict[], mistake: string | null): Promise<boolean> {
    const loses = verdicts.some((verdict) => verdict.loses);
    const running = verdicts.flatMap((verdict) => verdict.running ?? []);
    const told = verdicts.flatMap(written);
    if (verdicts.some((verdict) => verdict.refused)) {
      const modes = verdicts.flatMap(({ outcome }) => outcome ?? []);
      this.said.append(...told, ...modes.map((mode) => made("p", mode)), made("p", "'execution.upgrade-mode' forbids that: another mode resumes with what can be kept, or starts over."));
      return Promise.resolve(false);
    }
    const then = [
      ...(running.length ? [`It runs now: it is stopped, and resumes with this (${running.join(", ")}).`] : []),
      ...(loses ? ["If you agree, lost state starts empty, and all else resumes."] : []),
      ...(mistake ? [`What comes behind it is wrong: ${mistake}`] : []),
    ].join(" ");
    const goesOn = loses ? "resume without what is lost" : "resume with this";
    const yes = running.length ? `Stop it, and ${goesOn}` : loses ? "Resume without what is lost" : "Start the job";
    return this.choose(this.verdict, told, then, yes, loses);
  }

  /** What was asked was about another text. */
  private outdated(): void {
    if (!this.decline) return;
    this.decline();
    this.say("The text has changed since the question: run it again.");
  }

  private asked(question: string): Promise<boolean> {
    return this.choose(this.verdict, [this.pre(question)], "", "Yes", false);
  }

  private choose(place: HTMLElement, told: HTMLElement[], then: string, yes: string, warns: boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const box = made("div", "", warns ? "notice failing" : "notice");
      const row = made("p", "", "row");
      const agree = made("button", yes) as HTMLButtonElement;
      const decline = made("button", "Cancel") as HTMLButtonElement;
      this.status.textContent = "Waiting for your answer";
      const asked = performance.now();
      const choose = (chosen: boolean) => {
        this.thought += performance.now() - asked;
        this.decline = null;
        this.status.textContent = "Running ...";
        place.replaceChildren();
        this.editor.focus();
        resolve(chosen);
      };
      agree.addEventListener("click", () => choose(true));
      decline.addEventListener("click", () => choose(false));
      box.addEventListener("keydown", (event) => event.key === "Escape" && choose(false));
      row.append(agree, decline);
      box.append(...told, ...(then ? [made("p", then)] : []), row);
      place.replaceChildren(box);
      this.decline = () => choose(false);
      // A key that was meant for something else must not lose anything.
      (warns ? decline : agree).focus();
    });
  }

  /** Say that the server is gone, until it answers again; the session is gone with it. */
  private async lost({ message, hint }: Failure, heard: number): Promise<void> {
    // What ran has failed with the same words.
    const ran = this.running;
    lost(hint, heard);
    while (!(await answers())) await new Promise((again) => setTimeout(again, ASK_AGAIN_MS));
    lost(null);
    if (!this.session.open && !ran) this.say(`${message} ${hint}`);
  }

  // --- what is said ----------------------------------------------------------------------------------------------------

  private say(text: string): HTMLElement {
    const line = made("p", text);
    this.said.append(line);
    return line;
  }

  private pre(text: string): HTMLElement {
    const pre = made("pre", text.replace(/\n+$/, ""));
    pre.tabIndex = 0;
    return pre;
  }

  private failed(failure: Failure, seen: boolean): void {
    const { code, message, hint, location } = failure;
    if (seen) this.failure = failure;
    const box = made("div", "", "notice failing");
    const shown = location && (seen || location.file);
    const first = made("p", `${code} ${shown ? placed(message) : message}`.trim());
    if (shown) {
      const place = `${location.line}:${location.column}`;
      const go = made(location.file ? "span" : "button", location.file ? `${location.file}:${place}` : place, "place");
      if (!location.file) go.addEventListener("click", () => this.editor.go(location.line, location.column));
      first.prepend(go, " ");
    }
    box.append(first, ...(hint ? [made("p", hint, "hint")] : []));
    this.said.append(box);
  }

  private job(name: string, ended: boolean): void {
    const line = made("p", ended ? "The job has finished: " : "The job runs: ");
    const link = made("a", "look at it") as HTMLAnchorElement;
    link.href = `/job/${encodeURIComponent(name)}`;
    line.append(link);
    this.said.append(line);
  }

  private found(findings: Finding[]): void {
    const list = the("findings");
    list.replaceChildren(
      ...findings.filter((one) => !says(this.failure, one)).map((one) => {
        const item = document.createElement("li");
        const go = made("button", `${one.line}:${one.column}`, "place") as HTMLButtonElement;
        go.addEventListener("click", () => this.editor.go(one.line, one.column));
        item.append(go, made("span", ` ${one.code} ${one.message} `), made("span", one.hint, "hint"));
        item.className = one.error ? "error" : "";
        return item;
      }),
    );
  }

  private async help(about: string): Promise<void> {
    const place = the("help-text");
    the<HTMLInputElement>("about").value = about;
    const said = await this.session.ask("help", { about }).catch((error: unknown) => error as ServerError);
    place.replaceChildren(said instanceof ServerError ? made("p", `${said.failure.message} ${said.failure.hint ?? ""}`) : this.pre(said["text"] as string));
    place.closest("details")!.open = true;
    place.scrollIntoView({ block: "nearest" });
  }

  private async save(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const answer = form.querySelector<HTMLElement>("output")!;
    const { name, question, overwrite } = Object.fromEntries(new FormData(form)) as Record<string, string>;
    const said = await this.session.ask("save", { name, question, text: this.editor.text, overwrite: overwrite === "yes" }).catch((error: unknown) => error as ServerError);
    if (said instanceof ServerError) {
      answer.textContent = `${said.failure.message} ${said.failure.hint ?? ""}`;
      return;
    }
    location.assign(`/query?saved=${encodeURIComponent(name ?? "")}`);
  }
}

leaveTogether();
keepTotals();
localize(document);
const place = document.getElementById("editor");
if (place) new QueryView(place);
