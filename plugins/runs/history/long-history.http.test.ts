import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chatClient, replied, said } from "#plugins/chats/chats.fixture.ts";
import { type RunStage, startRunStage } from "../runs.fixture.ts";

let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage();
});
afterAll(() => stage?.close());

const words = (name: string) => `${name}: ${'Grüße "an" 世界 🌍\n'.repeat(20_000)}`;

it("sends a long conversation as it is stored, changes included", async () => {
  const me = chatClient(stage.app, stage.user.token);
  const item = { type: "message", id: "i", role: "assistant", status: "completed" };
  const output = [{ ...item, content: [{ type: "output_text", text: words("a2") }] }];
  const messages = {
    u1: said("u1", words("u1"), { childrenIds: ["a1"] }),
    a1: replied("a1", "u1", { content: words("a1"), childrenIds: ["u2"] }),
    u2: said("u2", [{ type: "text", text: words("u2") }], { parentId: "a1", childrenIds: ["a2"] }),
    a2: replied("a2", "u2", { content: words("a2"), output, childrenIds: [] }),
  };
  const { id } = await me.make({ models: ["alpha"], history: { currentId: "a2", messages } });
  const ask = async (content: string) => {
    const reply = randomUUID();
    const user_message = { id: randomUUID(), content, parentId: "a2" };
    await stage.complete({ chat_id: id, id: reply, user_message });
    await stage.ended(id);
    return stage.upstream.requests.at(-1)?.body.messages;
  };
  const spoken = [
    { role: "user", content: words("u1") },
    { role: "assistant", content: words("a1") },
    { role: "user", content: [{ type: "text", text: words("u2") }] },
    { role: "assistant", content: words("a2") },
  ];
  expect(await ask("And now?")).toEqual([...spoken, { role: "user", content: "And now?" }]);
  await me.call(`POST /${id}/messages/u1`, { content: words("other") });
  spoken[0] = { role: "user", content: words("other") };
  expect(await ask("And then?")).toEqual([...spoken, { role: "user", content: "And then?" }]);
});
