// A session of the server, over a websocket: what it says is in sqlstream/session/joined.
import { MISSED } from "./lost";

/** A message, which says more than its number. */
export type Said = { id: number } & Record<string, any>;

/** An error as the server tells it; `location` counts lines and characters from 1. */
export interface Failure {
  code: string;
  message: string;
  hint: string | null;
  location: { file: string; line: number; column: number } | null;
}

export class ServerError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

const GONE: Failure = {
  code: "",
  message: "The connection to the server is gone.",
  hint: "What you run next begins a new session: temporary tables and what was SET are not known to it.",
  location: null,
};

const SILENT: Failure = { ...GONE, message: "The server does not answer.", hint: "What runs goes on when it does." };
/** So often the server is asked whether it is there. */
const ASK_MS = 5_000;

/** A column of a result: its name, and the root of its type. */
export interface Column {
  name: string;
  type: string;
}

/** What a statement has answered. `changes` gives its rows, piece by piece, where it has some. */
export interface Outcome {
  kind: string;
  notices: string[];
  columns: Column[];
  lines: string;
  /** What the job is called that was submitted. */
  job: string;
  changes: () => AsyncGenerator<Piece, void>;
}

/** Rows that have come, and of each how it changes the result: +I, -U, +U or -D. A nested value is its text. */
export interface Piece {
  kinds: string[];
  rows: (string | null)[][];
}

const WITH_ROWS = ["Stream", "Rows", "Figures", "Advice"];

function cell(value: unknown): string | null {
  return Array.isArray(value) ? (value[0] as string) : (value as string | null);
}

/** What the server asks, and says by itself. */
export interface Listener {
  confirm(question: string): Promise<boolean>;
  download(name: string, pieces: Uint8Array[]): void;
  told(line: string, passing: boolean): void;
  /** The connection has ended that was there, or nothing comes by it; null: there is one again. `heard`: when something last came, in milliseconds
   * since 1970.
   */
  lost(failure: Failure | null, heard: number): void;
}

/** A script that runs: messages for it wait here until they are taken. */
class Running {
  private readonly waiting: Said[] = [];
  private wake: (() => void) | null = null;

  take(said: Said): void {
    this.waiting.push(said);
    this.wake?.();
  }

  async next(): Promise<Said> {
    while (!this.waiting.length) await new Promise<void>((wake) => (this.wake = wake));
    return this.waiting.shift()!;
  }
}

export class Session {
  private socket: Promise<WebSocket> | null = null;
  private readonly answers = new Map<number, (said: Said) => void>();
  private last = 0;
  private heard = Date.now();

  /** `protocol` and `release` are the server's. */
  constructor(
    private readonly protocol: number,
    private readonly release: string,
    private readonly listener: Listener,
  ) {}

  /** The answer to a question. */
  async ask(what: string, more: object = {}): Promise<Said> {
    return this.asked(await this.connected(), what, more);
  }

  /** Whether there is a session. */
  get open(): boolean {
    return this.socket !== null;
  }

  private asked(socket: WebSocket, what: string, more: object): Promise<Said> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.answers.set(id, (said) => {
        this.answers.delete(id);
        if (said["error"]) reject(new ServerError(said["error"] as Failure));
        else resolve(said);
      });
      socket.send(JSON.stringify({ do: what, id, ...more }));
    });
  }

  private connected(): Promise<WebSocket> {
    return (this.socket ??= this.connect());
  }

  private async connect(): Promise<WebSocket> {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/shell`);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("close", (event) => {
        const failure = event.reason ? { ...GONE, message: event.reason, hint: null } : GONE;
        this.socket = null;
        for (const hear of [...this.answers.values()]) hear({ id: 0, error: failure });
        this.answers.clear();
        reject(new ServerError(failure));
      });
    });
    socket.addEventListener("message", (event) => this.hear(JSON.parse(event.data as string) as Said));
    let begun = false;
    socket.addEventListener("close", () => begun && this.listener.lost(GONE, this.heard));
    await this.asked(socket, "open", { protocol: this.protocol, release: this.release, options: {}, variables: {}, interactive: true, save: true, asks: true });
    begun = true;
    this.listener.lost(null, this.heard);
    this.watch(socket);
    return socket;
  }

  /** Tell when the server is silent though the connection stands. */
  private watch(socket: WebSocket): void {
    let asked = 0;
    let told = false;
    const answered = () => {
      asked = 0;
      told = false;
    };
    const watching = setInterval(() => {
      if (!asked) {
        asked = Date.now();
        this.asked(socket, "alive", {}).then(answered, answered);
      } else if (!told && Date.now() - asked >= MISSED * ASK_MS) {
        told = true;
        this.listener.lost(SILENT, this.heard);
      }
    }, ASK_MS);
    socket.addEventListener("close", () => clearInterval(watching));
  }

  private hear(said: Said): void {
    this.heard = Date.now();
    if (said.id) this.answers.get(said.id)?.(said);
    else if (said["say"] === "notify" || said["say"] === "emit") this.listener.told(said["line"] as string, said["passing"] === true);
  }

  /** What the statements of a script answer, one after the other. Throws ServerError. */
  async *run(text: string): AsyncGenerator<Outcome, void> {
    const socket = await this.connected();
    const id = ++this.last;
    const running = new Running();
    this.answers.set(id, (said) => running.take(said));
    const say = (what: string, more: object = {}) => socket.send(JSON.stringify({ do: what, of: id, ...more }));
    let ended = false;
    const next = async (): Promise<Said | null> => {
      if (ended) return null;
      say("next");
      for (;;) {
        const said = await running.next();
        if (said["error"]) throw new ServerError(said["error"] as Failure);
        if (said["ask"]) await this.reply(said, say, running);
        else {
          ended = said["interrupted"] === true;
          return said["over"] || ended ? null : said;
        }
      }
    };
    socket.send(JSON.stringify({ do: "run", id, text, name: null, width: 100 }));
    try {
      for (let said = await next(); said; said = await next()) {
        const outcome = said["outcome"] as Record<string, any>;
        const columns = ((outcome["columns"] ?? []) as [string, [string]][]).map(([name, type]) => ({ name, type: type[0] }));
        let read = !WITH_ROWS.includes(outcome["kind"] as string);
        const changes = async function* (): AsyncGenerator<Piece, void> {
          if (read) return;
          for (let piece = await next(); piece; piece = await next()) {
            yield { kinds: piece["kinds"] as string[], rows: (piece["rows"] as unknown[][]).map((row) => row.map(cell)) };
          }
          read = true;
        };
        yield {
          kind: outcome["kind"] as string,
          notices: (outcome["notices"] ?? []) as string[],
          columns,
          lines: (outcome["lines"] ?? "") as string,
          job: (outcome["job_name"] ?? "") as string,
          changes,
        };
        for await (const _ of changes());
      }
    } finally {
      this.answers.delete(id);
      if (socket.readyState === WebSocket.OPEN) say("stop");
    }
  }

  private async reply(said: Said, say: (what: string, more: object) => void, running: Running): Promise<void> {
    switch (said["ask"]) {
      case "confirm":
        say("reply", { value: await this.listener.confirm(said["question"] as string) });
        return;
      case "write": {
        const pieces: Uint8Array[] = [];
        for (;;) {
          say("reply", { value: null });
          const piece = (await running.next())["piece"] as string | undefined;
          if (!piece) break;
          pieces.push(Uint8Array.from(piece.match(/../g) ?? [], (byte) => parseInt(byte, 16)));
        }
        say("reply", { value: null });
        this.listener.download(said["name"] as string, pieces);
        return;
      }
      case "shown":
        say("reply", { value: said["name"] });
        return;
      default: {
        const error = { kind: "ValidationError", code: "", message: `A page of a browser can't read the file '${said["name"]}'.`, heals: false, job: null, placed: false, location: null, trace: "" };
        say("reply", { error: { ...error, hint: "Put its text into the editor." } });
      }
    }
  }

  /** End the query that runs: its rows end. */
  interrupt(): void {
    void this.socket?.then((socket) => socket.send(JSON.stringify({ do: "interrupt", id: ++this.last })));
  }
}
