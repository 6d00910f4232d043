import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { html } from "#test/support/upstream-faults.ts";
import { json } from "#test/support/upstream-scripts.ts";
import {
  type AudioStage,
  isTranscription,
  mp3,
  readForm,
  startAudioStage,
  toneWav,
} from "./audio.fixture.ts";

let stage: AudioStage;

beforeAll(async () => {
  stage = await startAudioStage();
});
afterAll(() => stage?.close());

const asked = () => stage.engine.requests.filter(isTranscription);
const wav = toneWav(1);

describe("a recording", () => {
  it.each(["/api/v1/audio", "/audio/api/v1"])("is written down at %s", async (base) => {
    const answer = await stage.transcribe(wav, { base, name: "My talk.wav", language: "de-CH" });
    expect(answer).toEqual({ status: 200, body: { text: "Hello there.", filename: "My talk.wav" } });
    const sent = asked().at(-1)!;
    expect(sent.headers["authorization"]).toBe("Bearer hear-key-0123");
    const { file, ...fields } = await readForm(sent);
    expect(fields).toEqual({ model: "whisper-1", language: "de", response_format: "json" });
    expect([(file as File).name, (file as File).type]).toEqual(["recording.wav", "audio/wav"]);
    expect(Buffer.from(await (file as File).arrayBuffer())).toEqual(wav);
  });

  it("goes to the model and in the language of the settings", async () => {
    await stage.set({ AUDIO_STT_MODEL: "large-v3", WHISPER_LANGUAGE: "fr" });
    await stage.transcribe(mp3(), { name: "a.mp3", type: "audio/mpeg" });
    expect(await readForm(asked().at(-1)!)).toMatchObject({ model: "large-v3", language: "fr" });
    await stage.set({ AUDIO_STT_MODEL: "", WHISPER_LANGUAGE: "" });
  });

  it("is known by its bytes, whatever its name and type say", async () => {
    await stage.transcribe(mp3(), { name: "a.txt", type: "text/html" });
    const { file } = await readForm(asked().at(-1)!);
    expect([(file as File).name, (file as File).type]).toEqual(["recording.mp3", "audio/mpeg"]);
  });
});

describe("recordings are refused", () => {
  it.each([
    [Buffer.from("<html>no sound</html>"), {}, 400, /^file: is no recording that can be read: WAV/],
    [Buffer.alloc(0), {}, 400, "The recording is empty."],
    [wav, { language: "<script>" }, 400, /^language: must be a code/],
  ])("%#", async (bytes, sent, status, detail) => {
    const before = asked().length;
    const answer = await stage.transcribe(bytes, sent);
    expect([answer.status, answer.body.detail]).toEqual([
      status,
      typeof detail === "string" ? detail : expect.stringMatching(detail),
    ]);
    expect(asked().length).toBe(before);
  });

  it("by the types and endings that administrators take", async () => {
    await stage.set({ AUDIO_STT_SUPPORTED_CONTENT_TYPES: ["audio/mpeg", "video/*"] });
    expect((await stage.transcribe(wav)).body.detail).toBe(
      "file: audio/wav is not taken here, but audio/mpeg, video/*.",
    );
    expect((await stage.transcribe(mp3())).status).toBe(200);
    await stage.set({ AUDIO_STT_SUPPORTED_CONTENT_TYPES: [], AUDIO_STT_ALLOWED_EXTENSIONS: ["mp3", ".ogg"] });
    expect((await stage.transcribe(wav)).body.detail).toBe("file: names must end in .mp3, .ogg.");
    expect((await stage.transcribe(mp3(), { name: "A.MP3" })).status).toBe(200);
    await stage.set({ AUDIO_STT_ALLOWED_EXTENSIONS: [] });
  });

  it("over the size that is set", async () => {
    await stage.set({ AUDIO_STT_MAX_SIZE: 1 });
    expect((await stage.transcribe(toneWav(70))).status).toBe(413);
    await stage.set({ AUDIO_STT_MAX_SIZE: 500 });
  });

  it("while no engine is set up, with the reason", async () => {
    await stage.set({ AUDIO_STT_ENGINE: "" });
    expect(await stage.transcribe(wav)).toMatchObject({
      status: 503,
      body: {
        detail: expect.stringMatching(/A local Whisper is not built in: run an OpenAI-shaped Whisper server/),
      },
    });
    await stage.set({ AUDIO_STT_ENGINE: "web" });
    expect((await stage.transcribe(wav)).body.detail).toMatch(/^Browsers write down what is said/);
    await stage.set({ AUDIO_STT_ENGINE: "openai" });
  });

  it("without the permission", async () => {
    const stored = (await stage.admin.call("GET /api/v1/users/default/permissions")).body;
    const put = (chat: object) =>
      stage.admin.call("POST /api/v1/users/default/permissions", {
        ...stored,
        chat: { ...stored.chat, ...chat },
      });
    await put({ stt: false });
    expect((await stage.transcribe(wav)).status).toBe(403);
    await put({});
  });
});

describe("an engine that misbehaves is named", () => {
  it.each([
    ["a page of HTML", html(), 502, /^The transcription API answered with something other than JSON/],
    ["no text", json({ words: [] }), 502, "The transcription API answered without a text."],
    ["a wrong key", json({ error: "hear-key-0123" }, { status: 401 }), 502, /Is its key right\?$/],
    [
      "its own refusal",
      json({ error: { message: "Too noisy." } }, { status: 400 }),
      400,
      /It says: Too noisy\./,
    ],
  ])("for %s", async (_what, script, status, detail) => {
    stage.engine.reply(isTranscription, script);
    const answer = await stage.transcribe(wav);
    expect([answer.status, answer.body.detail]).toEqual([
      status,
      typeof detail === "string" ? detail : expect.stringMatching(detail),
    ]);
  });

  it("for silence, after the time that is set", async () => {
    await stage.set({ AUDIO_STT_TIMEOUT_SECONDS: 1 });
    stage.engine.reply(isTranscription, async (exchange) => await exchange.wait(60_000));
    expect((await stage.transcribe(wav)).status).toBe(504);
    await stage.set({ AUDIO_STT_TIMEOUT_SECONDS: 300 });
  });
});

describe("administrators", () => {
  const call = (route: string, body?: unknown) => stage.admin.call(route, body);

  it("read and change the settings; keys come back masked and stay", async () => {
    const { body: config } = await call("GET /api/v1/audio/config");
    expect(config).toMatchObject({
      tts: { ENGINE: "openai", VOICE: "alloy", SPLIT_ON: "punctuation", OPENAI_API_KEY: "sk-…0123" },
      stt: { ENGINE: "openai", OPENAI_API_KEY: "sk-…0123" },
    });
    const changed = { tts: { ...config.tts, VOICE: "coral" }, stt: config.stt };
    expect((await call("POST /api/v1/audio/config/update", changed)).body.tts.VOICE).toBe("coral");
    await stage.transcribe(wav);
    expect(asked().at(-1)?.headers["authorization"]).toBe("Bearer hear-key-0123");
    const moved = { stt: { OPENAI_API_BASE_URL: "https://elsewhere.example/v1" } };
    expect(await call("POST /api/v1/audio/config/update", moved)).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/^AUDIO_STT_OPENAI_API_KEY: enter it again/) },
    });
    const wrong = { tts: { SPLIT_ON: "words" } };
    expect((await call("POST /api/v1/audio/config/update", wrong)).status).toBe(422);
    await call("POST /api/v1/audio/config/update", { tts: { VOICE: "alloy" } });
  });

  it("see the engines; members see models and voices", async () => {
    const { body: engines } = await call("GET /api/v1/audio/engines");
    expect(engines).toMatchObject({ tts: { is_ready: true }, stt: { is_ready: true } });
    expect(engines.tts.engines[0]).toMatchObject({ id: "openai", missing: [] });
    for (const route of ["GET /api/v1/audio/config", "GET /api/v1/audio/engines"]) {
      expect((await stage.member.call(route)).status).toBe(403);
    }
    stage.engine.always("/audio/voices", json({ voices: ["ann", { id: "b", name: "Bob" }] }));
    stage.engine.always("/audio/models", json({ models: [{ id: "kokoro" }] }));
    expect((await stage.member.call("GET /api/v1/audio/voices")).body).toEqual({
      voices: [
        { id: "ann", name: "ann" },
        { id: "b", name: "Bob" },
      ],
    });
    expect((await stage.member.call("GET /api/v1/audio/models")).body).toEqual({
      models: [{ id: "kokoro", name: "kokoro" }],
    });
    await stage.set({ AUDIO_TTS_ENGINE: "" });
    expect((await stage.member.call("GET /api/v1/audio/voices")).body).toEqual({ voices: [] });
    await stage.set({ AUDIO_TTS_ENGINE: "openai" });
  });

  it("find the routes documented while ENV is dev, and members the engines in the configuration", async () => {
    expect((await fetch(`${stage.app.url}/audio/api/v1/docs`)).status).toBe(200);
    const { paths } = await (await fetch(`${stage.app.url}/audio/api/v1/openapi.json`)).json();
    expect(Object.keys(paths)).toContain("/audio/api/v1/speech");
    expect((await stage.member.call("GET /api/config")).body.audio).toMatchObject({
      tts: { engine: "openai", voice: "alloy", split_on: "punctuation" },
      stt: { engine: "openai" },
    });
  });
});
