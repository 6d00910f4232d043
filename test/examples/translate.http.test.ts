import { afterAll, beforeAll, expect, it } from "vitest";
import { completion } from "#test/support/upstream-chunks.ts";
import { failure, json, text } from "#test/support/upstream-scripts.ts";
import { openStage, says, type Stage } from "./examples.fixture.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await openStage(["alpha", "linguist"]);
  await stage.install("translate");
});

afterAll(() => stage.close());

const messages = [
  says("user", "Wie spät?", { id: "m1" }),
  says("assistant", "Es ist zwölf.", { id: "m2" }),
  says("user", "Danke", { id: "m3" }),
];
const press = (body: object = {}, user = stage.admin) =>
  user.call("POST /api/chat/actions/translate", { model: "alpha", messages, ...body });

it("answers the changed message, translated to the language of each user", async () => {
  const member = await stage.app.user();
  const mine = "/api/v1/functions/id/translate/valves/user/update";
  await stage.post(mine, { language: "French", keepOriginal: true }, member);
  stage.upstream.reply("/chat/completions", text(" It is twelve. "));
  stage.upstream.reply("/chat/completions", text("Il est midi."));
  stage.asked();
  expect((await press({ id: "m2" })).body).toEqual({ messages: [{ id: "m2", content: "It is twelve." }] });
  expect((await press({ id: "m2" }, member)).body).toEqual({
    messages: [{ id: "m2", content: "Es ist zwölf.\n\n---\n\nIl est midi." }],
  });
  const asked = stage.asked();
  expect(asked.map(({ model, messages: [system, user] }) => [model, system.content, user.content])).toEqual([
    ["alpha", expect.stringContaining("to English."), "Es ist zwölf."],
    ["alpha", expect.stringContaining("to French."), "Es ist zwölf."],
  ]);
});

it("takes the last reply when no message is named, parts of a message, and the model of the valve", async () => {
  await stage.post("/api/v1/functions/id/translate/valves/update", { model: "linguist" });
  stage.upstream.always("/chat/completions", text("Done"));
  stage.asked();
  expect((await press()).body.messages).toEqual([{ id: "m2", content: "Done" }]);
  const parts = [says("user", [{ type: "text", text: "Ja" }], { id: "m9" })];
  expect((await press({ messages: parts, id: "m9" })).body.messages[0].id).toBe("m9");
  expect(stage.asked().map(({ model }) => model)).toEqual(["linguist", "linguist"]);
  await stage.post("/api/v1/functions/id/translate/valves/update", {});
});

it("changes nothing when there is nothing to translate, or the model breaks off or fails", async () => {
  const details = [
    await press({ id: "unknown" }),
    await press({ messages: [says("assistant", " ", { id: "m" })], id: "m" }),
  ].map(({ status, body }) => [status, body.detail]);
  expect(details).toEqual([
    [400, "There is no text to translate."],
    [400, "There is no text to translate."],
  ]);
  stage.upstream.reply("/chat/completions", json(completion("Half", { finish: "length" })));
  expect((await press()).body.detail).toContain("longer than the model may answer");
  stage.upstream.reply("/chat/completions", failure(429, "busy"));
  expect(await press()).toMatchObject({ status: 400, text: expect.stringContaining("busy") });
  const bad = await stage.admin.call("POST /api/v1/functions/id/translate/valves/user/update", {
    language: "x".repeat(61),
  });
  expect([bad.status, bad.body.detail]).toEqual([400, expect.stringContaining("language")]);
});

it("is offered beside the model with its name", async () => {
  const list = await stage.admin.call("GET /api/models");
  const item = list.body.data.find(({ id }: { id: string }) => id === "alpha");
  expect(item.actions).toMatchObject([{ id: "translate" }]);
});
