// Takes long: replies of 200 MB are streamed, since the bounds stand there.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chunk } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { type RunStage, startRunStage } from "../runs.fixture.ts";
import { mostCharacters } from "./room.ts";

const path = "/chat/completions";
const megabyte = "A".repeat(1024 * 1024);
const head = "See ![a](data:image/png;base64,";

let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage({ env: { ENABLE_CHAT_RESPONSE_BASE64_IMAGE_URL_CONVERSION: "true" } });
});
afterAll(() => stage?.close());

/** A data URI of 200 MB, a megabyte a chunk. */
function* hugePicture() {
  yield chunk({ content: head });
  for (let n = 0; n < 200; n += 1) {
    yield chunk({ content: megabyte });
  }
  yield chunk({ content: ")" });
}

async function answer(script: Parameters<RunStage["upstream"]["reply"]>[1]) {
  const { chatId, replyId } = await stage.makeChat();
  stage.upstream.reply(path, script);
  const before = stage.upstream.requests.length;
  await stage.complete({ chat_id: chatId, id: replyId });
  await stage.ended(chatId);
  return { reply: await stage.message(chatId, replyId), sent: stage.upstream.requests[before] };
}

it("a data URI of 200 MB ends the reply with the reason; what came is a file, and others are served", async () => {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const { reply, sent } = await answer(sse(hugePicture()));
  delay.disable();
  expect(reply).toMatchObject({
    done: true,
    error: { content: "The reply grew beyond 32 MB and was ended here; what came before is kept." },
  });
  const [, url = ""] = /^See !\[a\]\((\/api\/v1\/files\/[^/]+\/content)$/.exec(reply.content) ?? [];
  const file = await fetch(stage.app.url + url, {
    headers: { authorization: `Bearer ${stage.user.token}` },
  });
  expect((await file.arrayBuffer()).byteLength).toBe((((mostCharacters - head.length) / 4) * 3) | 0);
  // The upstream is not read any further.
  expect(await sent?.aborted).toBeGreaterThan(0);
  // The upstream's script and the platform share this process.
  expect(delay.max / 1e6).toBeLessThan(2000);
  expect((await answer(text("Still here"))).reply).toMatchObject({ content: "Still here", done: true });
}, 120_000);

it("texts of a few large frames are cut at the bound, and a frame over its own says so", async () => {
  const fifteen = chunk({ content: megabyte.repeat(15) });
  const { reply } = await answer(sse([fifteen, fifteen, fifteen]));
  expect(reply.error.content).toContain("grew beyond 32 MB");
  expect(reply.content.length).toBe(mostCharacters);
  const single = await answer(sse([chunk({ content: "Look" }), chunk({ content: megabyte.repeat(200) })]));
  expect(single.reply).toMatchObject({
    content: "Look",
    error: { content: "The provider sent a frame of more than 16777216 bytes." },
  });
}, 120_000);
