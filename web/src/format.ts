// Numbers and times as the browser's language writes them. The server writes each with its plain value, readable without a script.

const exact = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

const BYTES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;
const AGES: readonly (readonly [string, number])[] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

function unit(value: number, name: string, digits = 0): string {
  return new Intl.NumberFormat(undefined, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: digits }).format(value);
}

const precise = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 6 });
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 5 });
const scientific = new Intl.NumberFormat(undefined, { notation: "scientific", maximumSignificantDigits: 4 });

/** A number of any size, in a few letters. */
export function figure(value: number): string {
  const size = Math.abs(value);
  if (size && (size < 1e-4 || size >= 1e15)) return scientific.format(value);
  return (size < 1e6 ? precise : compact).format(value);
}

export function number(value: number): string {
  return exact.format(value);
}

export function bytes(value: number): string {
  let step = 0;
  let left = value;
  while (left >= 1000 && step < BYTES.length - 1) {
    left /= 1000;
    step += 1;
  }
  return unit(left, BYTES[step] ?? "byte", step ? 1 : 0);
}

/** A length of time, in its largest unit. */
export function duration(seconds: number): string {
  const [name, size] = AGES.find(([, length]) => seconds >= length) ?? ["second", 1];
  return unit(name === "second" && seconds < 10 ? seconds : Math.floor(seconds / size), name, 1);
}

export function time(seconds: number): string {
  return moment.format(new Date(seconds * 1000));
}

const WRITERS: Record<string, (value: number) => string> = { number, bytes, duration };

/** Write all numbers and times below `root` anew. */
export function localize(root: ParentNode): void {
  for (const data of root.querySelectorAll<HTMLDataElement>("data[data-as]")) {
    const write = WRITERS[data.dataset["as"] ?? ""];
    if (write) data.textContent = write(Number(data.value));
  }
  for (const at of root.querySelectorAll<HTMLTimeElement>("time[datetime]")) {
    const seconds = Date.parse(at.dateTime) / 1000;
    if (at.dataset["as"] === "moment") at.textContent = time(seconds);
    else at.title = time(seconds);
  }
}
