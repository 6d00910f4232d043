import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into posts of every form
  readonly body: any;
}

/** An address that takes posts, on loopback. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Gives the next posts to a path these statuses; 200 once there are none left. */
  answer(path: string, ...statuses: readonly number[]): void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers = new Map<string, number[]>();
  const server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray());
    const text = bytes.toString();
    received.push({ path: request.url ?? "", headers: request.headers, bytes, text, body: parse(text) });
    response.statusCode = answers.get(request.url ?? "")?.shift() ?? 200;
    response.setHeader("location", "/elsewhere");
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (path, ...statuses) => void answers.set(path, [...statuses]),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
