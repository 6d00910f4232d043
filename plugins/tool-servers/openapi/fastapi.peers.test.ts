import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { testPython } from "#test/support/python.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { type FastApiService, startFastApi } from "./fastapi.fixture.ts";

let stage: RunStage;
let garden: FastApiService;

beforeAll(async () => {
  if (testPython !== undefined) {
    garden = await startFastApi(testPython);
    const servers = [{ url: garden.url, type: "openapi", info: { id: "garden", name: "Garden" } }];
    stage = await startRunStage({ env: { TOOL_SERVER_CONNECTIONS: JSON.stringify(servers) } });
  }
});
afterAll(async () => {
  await stage?.close();
  await garden?.close();
});

const completions = (request: UpstreamRequest) => request.path.endsWith("/chat/completions");

// Without Python there is no such service; service.fixture.ts stands in for it in openapi.http.test.ts.
it.skipIf(testPython === undefined)(
  "a FastAPI service is called in a reply and its results are shown (needs TEST_PYTHON)",
  async () => {
    const plant = { bed: 3, name: "Sage", kind: "herb", height: 0.4, children: [{ name: "Seedling" }] };
    const calls = [
      ["plant", plant],
      ["plant", { bed: 12, name: "Oak" }],
      ["find_plants", { kind: ["herb", "tree"], "x-language": "de" }],
      ["note", { text: "a & b", stars: 2 }],
      ["chart", {}],
      ["photo", {}],
    ] as const;
    const chunks = toolCallChunks(
      calls.map(([name, args], at) => ({ id: `c${at}`, name, arguments: JSON.stringify(args) })),
    );
    stage.upstream.reply(completions, sse(chunks));
    stage.upstream.reply(completions, text("Planted."));
    const { chatId, replyId } = await stage.makeChat();
    await stage.complete({ chat_id: chatId, id: replyId, tool_ids: ["server:garden"] });
    await stage.ended(chatId);
    const asked = stage.upstream.requests.filter(completions);
    const offered = asked[0]!.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
    expect(offered).toEqual(expect.arrayContaining(["plant", "find_plants", "note", "chart", "photo"]));
    const results = asked[1]!.body.messages.filter(({ role }: { role: string }) => role === "tool");
    const contents: string[] = results.map(({ content }: { content: string }) => content);
    expect(JSON.parse(contents[0]!)).toMatchObject({
      bed: 3,
      plant: { name: "Sage", kind: "herb" },
      count: 2,
    });
    expect(contents.slice(1, 4)).toEqual([
      'Error: The tool server "Garden" refused with status 404: {"detail":"There is no bed 12."}',
      '{"kinds":["herb","tree"],"language":"de"}',
      '{"text":"a & b","stars":2}',
    ]);
    const reply = await stage.message(chatId, replyId);
    expect(reply).toMatchObject({ content: "Planted.", done: true, embeds: ["<h1>Beds</h1>"] });
    expect(reply.files).toEqual([expect.objectContaining({ type: "image", name: "result.png" })]);
  },
);
