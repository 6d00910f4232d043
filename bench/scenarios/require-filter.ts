import type { Contestant } from "../contestant.ts";
import type { Bench } from "../measure.ts";

/** Throws unless the bench's filter really changes the stream: a filter that never runs would look very fast. */
export async function requireFilter(bench: Bench, contestant: Contestant): Promise<void> {
  const running = await contestant.start(bench.mock.port);
  try {
    const text = await ask(running.port, { path: running.path, headers: running.headers });
    if (!text.includes(" TOK@") || text.includes(" tok@")) {
      throw new Error(`the filter of ${contestant.name} did not run: ${text.slice(0, 500)}`);
    }
  } finally {
    await running.stop();
  }
}

async function ask(port: number, options: { path: string; headers: string }): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${options.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: options.headers.slice(15).trim() },
    body: JSON.stringify({ model: "burst-5", stream: true, messages: [{ role: "user", content: "Hi" }] }),
  });
  return response.text();
}
