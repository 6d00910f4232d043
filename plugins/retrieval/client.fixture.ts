import { setTimeout as pause } from "node:timers/promises";
import { upload } from "#plugins/files/client.fixture.ts";
import type { App } from "#test/support/app.ts";

/** Uploads a file and waits until its text is indexed; resolves to its id. */
export async function indexFile(app: App, token: string, [name, content]: [string, string]): Promise<string> {
  const answer = await upload(app, [name, content], { token, query: "?process_in_background=false" });
  if (answer.body?.data?.status !== "completed") {
    throw new Error(`the file was not processed: ${answer.text}`);
  }
  return answer.body.id;
}

/** Indexes a text through the API; resolves to the answer's body. */
export async function indexText(
  app: App,
  token: string,
  body: { name: string; content: string; collection_name?: string },
): Promise<{ collection_name: string }> {
  const answer = await app.call("POST /api/v1/retrieval/process/text", { token, body });
  if (answer.status !== 200) {
    throw new Error(`the text was not indexed: ${answer.text}`);
  }
  return answer.body;
}

/** Waits until no passage of some items waits for its vector. Throws after `seconds`. */
export async function waitUntilEmbedded(app: App, items: readonly string[], seconds = 60): Promise<void> {
  const until = performance.now() + seconds * 1000;
  for (;;) {
    const { rows } = await app.running.database.query(
      `select s.item_id, s.error from retrieval_source s where s.item_id = any($1) and s.status = 'live' and s.embedded_in is null`,
      [[...items]],
    );
    if (rows.length === 0) {
      return;
    }
    if (performance.now() > until) {
      throw new Error(`still without vectors: ${JSON.stringify(rows)}`);
    }
    await pause(50);
  }
}
