import { afterAll, beforeAll, expect, it } from "vitest";
import { json } from "#test/support/upstream-scripts.ts";
import { type AudioStage, isTranscription, readForm, startAudioStage, toneWav } from "./audio.fixture.ts";

// Recordings that are uploaded as files of chats and of knowledge.

let stage: AudioStage;

beforeAll(async () => {
  stage = await startAudioStage();
});
afterAll(() => stage?.close());

interface Uploading {
  readonly name?: string;
  readonly type?: string;
  readonly metadata?: object;
}

const upload = async (
  bytes: Uint8Array,
  { name = "talk.wav", type = "audio/wav", metadata }: Uploading = {},
) => {
  const form = new FormData();
  form.append("file", new Blob([Buffer.from(bytes)], { type }), name);
  if (metadata !== undefined) {
    form.append("metadata", JSON.stringify(metadata));
  }
  const headers = { authorization: `Bearer ${stage.member.token}` };
  const answer = await fetch(`${stage.app.url}/api/v1/files/`, { method: "POST", headers, body: form });
  const { id } = (await answer.json()) as { id: string };
  const read = async () => (await stage.member.call(`GET /api/v1/files/${id}`)).body.data;
  await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toMatch(/^(completed|failed)$/);
  return await read();
};
let count = 0;
/** A recording that nobody uploaded before. */
const fresh = () => toneWav(1 + (count += 1) / 100);
const asked = () => stage.engine.requests.filter(isTranscription);

it("an uploaded recording becomes text, in the language that its form tells", async () => {
  const data = await upload(fresh(), { metadata: { language: "de" } });
  expect(data).toMatchObject({ status: "completed", content: "Hello there." });
  expect((await readForm(asked().at(-1)!))["language"]).toBe("de");
});

it("the same bytes are written down once, and again for another model", async () => {
  const bytes = fresh();
  await upload(bytes);
  const before = asked().length;
  expect((await upload(bytes, { name: "copy.wav" })).content).toBe("Hello there.");
  expect(asked().length).toBe(before);
  await stage.set({ AUDIO_STT_MODEL: "large-v3" });
  await upload(bytes);
  expect((await readForm(asked().at(-1)!))["model"]).toBe("large-v3");
  expect(asked().length).toBe(before + 1);
  await stage.set({ AUDIO_STT_MODEL: "" });
});

it("a recording of no known type is known by its bytes", async () => {
  const data = await upload(fresh(), { name: "voice", type: "application/octet-stream" });
  expect(data.content).toBe("Hello there.");
});

it.each([
  [Buffer.from("no sound"), undefined, "The file is no recording that can be read: WAV"],
  [fresh(), json({ text: "  " }), "No words were heard in this recording."],
  [fresh(), json({ error: { message: "Too noisy." } }, { status: 400 }), "It says: Too noisy."],
])("failures are told as the status of the file: %#", async (bytes, script, reason) => {
  if (script !== undefined) {
    stage.engine.reply(isTranscription, script);
  }
  expect(await upload(bytes)).toMatchObject({ status: "failed", error: expect.stringContaining(reason) });
});

it("without an engine recordings have no text, and say why", async () => {
  await stage.set({ AUDIO_STT_ENGINE: "" });
  expect(await upload(fresh())).toMatchObject({
    status: "failed",
    error: "No engine is set up that turns speech into text, so this recording has none.",
  });
  await stage.set({ AUDIO_STT_ENGINE: "openai" });
});
