// The last requests and log lines of a test, printed when it fails. Suites without isolation share the process, and with
// it this list; tests of one process run one after the other.

const exchangesKept = 5;
const linesKept = 40;
const shownLength = 600;

interface Evidence {
  exchanges: string[];
  lines: string[];
  pages: string[];
}

const shared = globalThis as { testEvidence?: Evidence };
const evidence = (shared.testEvidence ??= { exchanges: [], lines: [], pages: [] });

/** Remembers a request that a test made, with its answer. */
export function keepExchange(
  route: string,
  body: unknown,
  answer: { readonly status: number; readonly text: string },
): void {
  const sent = body === undefined ? "" : `\n    sent: ${shorten(toText(body))}`;
  evidence.exchanges.push(`${route} → ${answer.status}${sent}\n    got:  ${shorten(answer.text)}`);
  evidence.exchanges.splice(0, evidence.exchanges.length - exchangesKept);
}

/** Remembers a line that a server of this process logged. */
export const logEvidence = {
  write(line: string): void {
    evidence.lines.push(line.trimEnd());
    evidence.lines.splice(0, evidence.lines.length - linesKept);
  },
};

/** Remembers a line about a page that a test had open. */
export function keepPage(line: string): void {
  evidence.pages.push(line);
}

export function clearEvidence(): void {
  evidence.exchanges.length = 0;
  evidence.lines.length = 0;
  evidence.pages.length = 0;
}

/** The evidence of the running test as text; undefined when there is none. */
export function describeEvidence(): string | undefined {
  const { exchanges, lines, pages } = evidence;
  const parts = [
    ...(pages.length > 0 ? [`Open pages:\n  ${pages.join("\n  ")}`] : []),
    ...(exchanges.length > 0 ? [`Last requests:\n  ${exchanges.join("\n  ")}`] : []),
    ...(lines.length > 0 ? [`Log of the server:\n  ${lines.join("\n  ")}`] : []),
  ];
  return parts.length > 0 ? parts.join("\n") : undefined;
}

function toText(body: unknown): string {
  return typeof body === "string" ? body : body instanceof FormData ? "a form" : JSON.stringify(body);
}

function shorten(text: string): string {
  return text.length > shownLength ? `${text.slice(0, shownLength)} … (${text.length} characters)` : text;
}
