import { connect } from "node:net";

export interface RawAnswer {
  /** The status of the first answer; 0 when the connection was closed without one. */
  readonly status: number;
  /** Everything that came back, heads and bodies of all answers. */
  readonly text: string;
  /** How many answers came back. */
  readonly count: number;
}

/** Sends bytes to a server as they are, which no HTTP client would do, and reads until it closes or falls silent. */
export async function sendRaw(
  url: string,
  bytes: string | Buffer,
  { quietMs = 200 } = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const pieces: Buffer[] = [];
  socket.on("data", (piece) => {
    pieces.push(piece);
    socket.setTimeout(quietMs);
  });
  // Ends when the server sends nothing for a while: it may keep the connection open.
  socket.setTimeout(10_000, () => socket.destroy());
  socket.on("timeout", () => socket.destroy());
  // A server may reset a connection that sends too much; its answer before that counts.
  socket.on("error", () => undefined);
  socket.once("connect", () => socket.write(bytes));
  await new Promise((resolve) => socket.once("close", resolve));
  const text = Buffer.concat(pieces).toString("latin1");
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)];
  return { status: Number(statuses[0]?.[1] ?? 0), text, count: statuses.length };
}

/** The text of a request with these lines; the host is added. */
export function toRequest(line: string, headers: Readonly<Record<string, string>> = {}, body = ""): string {
  const all = { host: "localhost", ...headers };
  return `${line}\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n${body}`;
}
