import { beforeEach, expect, it } from "vitest";
import { setUp } from "#test/support/set-up.ts";
import { body as answerOf, failure, text } from "#test/support/upstream-scripts.ts";
import { openStage, says, type Stage, toFrames, toText } from "./examples.fixture.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let stage: Stage;
let site: Upstream;

const manual = `# Coffee machine

Welcome.

## Cleaning

Rinse the milk tube each evening.

\`\`\`sh
# not a heading: descale
\`\`\`

## Descaling

Every month, descaling takes twenty minutes.`;

setUp(async (keep) => {
  site = await keep(startUpstream());
  stage = await keep(openStage(["alpha"], { EGRESS_ALLOWED_PRIVATE_ORIGINS: site.origin }));
  const host = new URL(site.origin).host;
  await stage.install("docs_guide", {
    // The example's comment tells authors to name their own hosts.
    change: (source) => source.replace('"docs.example.com"', JSON.stringify(host)),
  });
});

const valves = (body: object) => stage.post("/api/v1/functions/id/docs_guide/valves/update", body);
const ask = (question: string, stream: boolean) =>
  stage.ask({ model: "docs_guide", messages: [says("user", question)], stream });

beforeEach(() => valves({ text: manual, sections: 1 }));

it("answers from the texts of its valve with citations, streamed in words and whole", async () => {
  const source = {
    source: { name: "text › Descaling" },
    document: ["Every month, descaling takes twenty minutes."],
  };
  const streamed = await ask("How long does descaling take?", true);
  const frames = toFrames(streamed.text);
  expect(frames[0]).toMatchObject({ model: "docs_guide", sources: [source] });
  expect(frames.length).toBeGreaterThan(5);
  const expected = "**Descaling** [1]\n\nEvery month, descaling takes twenty minutes.\n\n[1] text";
  expect(toText(streamed)).toBe(expected);
  const whole = await ask("How long does descaling take?", false);
  expect(toText(whole)).toBe(expected);
  expect(whole.body).toMatchObject({ model: "docs_guide", sources: [source] });
});

it("says so when nothing fits", async () => {
  for (const stream of [true, false]) {
    expect(toText(await ask("Who won the cup?", stream))).toBe(
      "I found nothing about that in the documentation.",
    );
  }
});

it("fetches pages of allowed hosts, keeps them, and does without those that do not come", async () => {
  const page = `${site.origin}/manual.md`;
  site.always("/manual.md", answerOf(manual, { headers: { "content-type": "text/markdown" } }));
  site.always("/gone.md", failure(404, "gone"));
  const pages = [page, `${site.origin}/gone.md`, "http://elsewhere.example/x.md"];
  await valves({ text: "", pages, sections: 2 });
  for (let n = 0; n < 2; n += 1) {
    expect(toText(await ask("Clean the milk tube", true))).toContain(`[1] ${page}`);
  }
  expect(site.requests.filter(({ path }) => path === "/manual.md")).toHaveLength(1);
  const logs = await stage.admin.call("GET /api/v1/functions/id/docs_guide/logs");
  const lines = logs.body.lines.map((line: { text: string }) => line.text).join("\n");
  expect(lines).toContain("gone.md could not be read: status 404");
  expect(lines).toContain("did not declare elsewhere.example");
});

it("lets a model word the answer from the sections", async () => {
  await valves({ text: manual, model: "alpha", sections: 2 });
  stage.upstream.always("/chat/completions", text("Twenty minutes, each month [1]."));
  for (const stream of [true, false]) {
    stage.asked();
    const answer = await ask("How long does descaling take?", stream);
    expect(toText(answer)).toMatch(/^Twenty minutes, each month \[1\]\.\n\n\[1\] text/);
    const [{ messages }] = stage.asked() as [{ messages: { content: string }[] }];
    expect(messages[0]?.content).toContain("descaling takes twenty minutes");
    expect(messages[1]?.content).toBe("How long does descaling take?");
  }
});
