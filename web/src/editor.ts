// The editor: what is typed has the server's completion, findings, and help.
import { acceptCompletion, autocompletion, completionKeymap, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap, nextDiagnostic, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { EditorState, type Text } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Session } from "./session";

/** What the server finds in a text; lines and columns count from 1, columns in characters. */
export interface Finding {
  line: number;
  column: number;
  code: string;
  message: string;
  hint: string;
  error: boolean;
}

// The server counts characters, a browser the halves of those beyond the first 65,536.
const characters = (text: string) => [...text].length;
const halves = (text: string, count: number) => [...text].slice(0, count).join("").length;

const WORD = /[\p{L}\p{N}_$]/u;
const FIND_AFTER_MS = 400;

function language(words: ReadonlySet<string>, functions: ReadonlySet<string>) {
  return StreamLanguage.define<{ in: "" | "string" | "comment" | "name" }>({
    startState: () => ({ in: "" }),
    token(stream, state) {
      if (!state.in) {
        if (stream.eatSpace()) return null;
        if (stream.match("--")) {
          stream.skipToEnd();
          return "comment";
        }
        if (stream.match("/*")) state.in = "comment";
        else if (stream.eat("'")) state.in = "string";
        else if (stream.eat("`")) state.in = "name";
        else if (stream.match(/^\d+(\.\d+)?([eE][+-]?\d+)?/)) return "number";
        else if (stream.eat(WORD)) {
          stream.eatWhile(WORD);
          const word = stream.current().toUpperCase();
          if (functions.has(word) && stream.peek() === "(") return "name";
          return words.has(word) ? "keyword" : null;
        } else {
          stream.next();
          return null;
        }
      }
      const style = state.in === "name" ? null : state.in;
      const end = { string: "'", name: "`", comment: "*/", "": "" }[state.in];
      while (!stream.eol()) {
        if (stream.match(end)) {
          state.in = "";
          return style;
        }
        stream.next();
      }
      return style;
    },
  });
}

const colours = HighlightStyle.define([
  { tag: tags.keyword, fontWeight: "600" },
  { tag: tags.string, color: "var(--string)" },
  { tag: tags.number, color: "var(--string)" },
  { tag: tags.name, fontStyle: "italic" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
]);

const look = EditorView.theme({
  "&": { backgroundColor: "var(--panel)", color: "var(--ink)", fontSize: "0.95rem", border: "1px solid var(--soft)", borderRadius: "4px" },
  "&.cm-focused": { outline: "2px solid var(--link)" },
  ".cm-scroller": { fontFamily: "var(--mono)", minHeight: "9rem", maxHeight: "50vh" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-placeholder": { color: "var(--soft)" },
  ".cm-tooltip": { backgroundColor: "var(--paper)", color: "var(--ink)", border: "1px solid var(--soft)", maxWidth: "min(40rem, 90vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--ink)", color: "var(--paper)" },
  ".cm-completionDetail": { color: "inherit", fontStyle: "normal", opacity: "0.85", marginLeft: "1.5em" },
  ".cm-matchingBracket": { backgroundColor: "transparent !important", outline: "1px solid var(--soft)" },
  // The marks that come with it are pictures, which the page loads from nowhere.
  ".cm-lintRange": { backgroundImage: "none", paddingBottom: "0" },
  ".cm-lintRange-error": { textDecoration: "underline wavy var(--failing)" },
  ".cm-lintRange-warning": { textDecoration: "underline wavy var(--behind)" },
  ".cm-panel.cm-panel-lint": { backgroundColor: "var(--paper)", color: "var(--ink)" },
});

/** What the keys of the editor do besides typing. */
export interface Commands {
  run(): void;
  runStatement(): void;
  /** The text is another. */
  changed(): void;
  help(word: string): void;
  found(findings: Finding[]): void;
}

/** Go behind the next finding: what is selected would be all that runs. */
function nextFinding(view: EditorView): boolean {
  const found = nextDiagnostic(view);
  view.dispatch({ selection: { anchor: view.state.selection.main.to } });
  return found;
}

export class Editor {
  private readonly view: EditorView;
  private finding: number | undefined;
  private asking = false;

  constructor(
    parent: HTMLElement,
    text: string,
    label: string,
    private readonly session: Session,
    private readonly commands: Commands,
  ) {
    const list = (name: string) => new Set((parent.dataset[name] ?? "").split(" "));
    const does = (what: () => void) => () => (what(), true);
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorView.cspNonce.of(parent.dataset["nonce"] ?? ""),
          keymap.of([
            { key: "F5", run: does(() => commands.run()) },
            { key: "Mod-Enter", run: does(() => commands.runStatement()) },
            { key: "F1", run: does(() => commands.help(this.word)) },
            { key: "Tab", run: acceptCompletion },
            // Enter is a new line: a word that is typed whole must not become another one.
            ...completionKeymap.filter(({ key }) => key !== "Enter"),
            { key: "F8", run: nextFinding },
            ...lintKeymap,
            ...historyKeymap,
            ...defaultKeymap,
          ]),
          history(),
          bracketMatching(),
          language(list("words"), list("functions")),
          syntaxHighlighting(colours),
          autocompletion({ override: [(context) => this.complete(context)], icons: false, maxRenderedOptions: 200, defaultKeymap: false }),
          placeholder("SELECT ..  or any other statement of Flink SQL"),
          look,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            // A list that can be moved can be reached without a mouse.
            update.view.dom.querySelector<HTMLElement>(".cm-tooltip-autocomplete > ul")?.setAttribute("tabindex", "0");
            if (!update.docChanged) return;
            this.commands.changed();
            this.look();
          }),
        ],
      }),
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** What is selected, in its place; else nothing. */
  get selected(): string {
    const { from, to } = this.view.state.selection.main;
    return from === to ? "" : inPlace(this.text, from, to);
  }

  /** The statement that the cursor is in, in its place. */
  async statement(): Promise<string> {
    const { text } = this;
    const said = await this.session.ask("statement", { text, cursor: characters(text.slice(0, this.view.state.selection.main.head)) });
    const place = said["place"] as [number, number] | null;
    return place ? inPlace(text, halves(text, place[0]), halves(text, place[1])) : "";
  }

  private get word(): string {
    const { head } = this.view.state.selection.main;
    const at = this.view.state.wordAt(head);
    return this.selected.trim() || (at ? this.view.state.sliceDoc(at.from, at.to) : "");
  }

  focus(): void {
    this.view.focus();
  }

  /** Go to a place, which the server has told. */
  go(line: number, column: number): void {
    this.view.dispatch({ selection: { anchor: at(this.view.state.doc, line, column) }, scrollIntoView: true });
    this.view.focus();
  }

  /** Ask for findings, when nothing was typed for a while. */
  look(): void {
    clearTimeout(this.finding);
    this.finding = setTimeout(() => void this.find(), FIND_AFTER_MS);
  }

  private async find(): Promise<void> {
    const { text } = this;
    if (!text.trim()) {
      this.show([]);
      return;
    }
    // One question at a time: a long text takes its time.
    if (this.asking) return;
    this.asking = true;
    const said = await this.session.ask("findings", { text }).catch(() => null);
    this.asking = false;
    if (this.text !== text) this.look();
    else if (said) this.show(said["findings"] as Finding[]);
  }

  private show(findings: Finding[]): void {
    const { doc } = this.view.state;
    const diagnostics = findings.map((one): Diagnostic => {
      const from = at(doc, one.line, one.column);
      const line = doc.lineAt(from);
      const word = /^([\p{L}\p{N}_$]+|'[^']*'|`[^`]*`|\S)/u.exec(line.text.slice(from - line.from));
      return { from, to: Math.min(from + (word?.[0].length ?? 0), line.to), severity: one.error ? "error" : "warning", source: one.code, message: one.hint ? `${one.message}\n${one.hint}` : one.message };
    });
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
    this.commands.found(findings);
  }

  private async complete(context: CompletionContext): Promise<CompletionResult | null> {
    const text = context.state.doc.toString();
    const before = text.slice(0, context.pos);
    if (!context.explicit && !/[\p{L}\p{N}_$`'.(]$/u.test(before)) return null;
    const said = await this.session.ask("suggest", { text, cursor: characters(before) }).catch(() => null);
    const offered = (said?.["suggestions"] ?? []) as [string, number, string, string][];
    if (!offered.length || context.aborted) return null;
    const typed = [...before];
    const start = (length: number) => context.pos - typed.slice(typed.length - length).join("").length;
    const options = offered.map(
      ([label, length, kind, meta], place): Completion => ({
        label,
        detail: meta || kind,
        boost: -place / offered.length,
        apply: (view, _completion, _from, to) => {
          const from = start(length);
          view.dispatch({ changes: { from, to, insert: label }, selection: { anchor: from + label.length }, userEvent: "input.complete" });
        },
      }),
    );
    return { from: start(offered[0]![1]), options, filter: false };
  }
}

/** A part of a text behind as much space as stands before it, so that the places of its errors are those of the text. */
function inPlace(text: string, from: number, to: number): string {
  return text.slice(0, from).replace(/[^\n]/gu, " ") + text.slice(from, to);
}

function at(doc: Text, line: number, column: number): number {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return found.from + halves(found.text, column - 1);
}
