import { afterAll, beforeAll, expect, it } from "vitest";
import { text } from "#test/support/upstream-scripts.ts";
import { openStage, says, type Stage } from "./examples.fixture.ts";

let stage: Stage;

const terms = `SLA | service level: What we promise our customers.
IT: The department on the third floor.
C++ (house style): Only the old billing system has it.
no colon here
Mühle: The office in Ulm.`;

beforeAll(async () => {
  stage = await openStage(["alpha"]);
  stage.upstream.always("/chat/completions", text("ok"));
  await stage.install("glossary", { valves: { terms, intro: "Words:" } });
});

afterAll(() => stage.close());

async function sent(messages: object[]) {
  stage.asked();
  expect((await stage.ask({ messages, stream: true })).status).toBe(200);
  return stage.asked()[0].messages;
}

it("tells terms that occur in the question, in any spelling, and no others", async () => {
  expect(await sent([says("user", "Which Service Level has the office in der Mühle?")])).toEqual([
    says("system", "Words:\n- SLA: What we promise our customers.\n- Mühle: The office in Ulm."),
    says("user", "Which Service Level has the office in der Mühle?"),
  ]);
  expect(await sent([says("user", "Where is it? SLAs, Mühlen")])).toHaveLength(1);
  expect((await sent([says("user", "Where is IT?")]))[0].content).toContain("third floor");
  expect((await sent([says("user", "what is c++ (house style)?")]))[0].content).toContain("billing");
});

it("looks at the last question alone, and adds to a system message that is there", async () => {
  const messages = [
    says("system", [{ type: "text", text: "Be brief." }]),
    says("user", "IT?"),
    says("assistant", "3"),
    says("user", [{ type: "text", text: "And the SLA?" }]),
  ];
  const [system] = await sent(messages);
  expect(system).toEqual(says("system", "Be brief.\n\nWords:\n- SLA: What we promise our customers."));
});

it("follows changed valves at once, and tells no more than it may", async () => {
  const many = Array.from({ length: 9 }, (_, n) => `word${n}: meaning ${n}`).join("\n");
  await stage.post("/api/v1/functions/id/glossary/valves/update", { terms: many, most: 2 });
  const question = Array.from({ length: 9 }, (_, n) => `word${n}`).join(" ");
  const [system] = await sent([says("user", question)]);
  expect(system.content.split("\n").slice(1)).toEqual(["- word0: meaning 0", "- word1: meaning 1"]);
  await stage.post("/api/v1/functions/id/glossary/valves/update", {});
  expect(await sent([says("user", question)])).toHaveLength(1);
});
