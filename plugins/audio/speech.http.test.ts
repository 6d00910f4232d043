import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { html, resetAfter } from "#test/support/upstream-faults.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { type AudioStage, isSpeech, mp3, speaks, startAudioStage } from "./audio.fixture.ts";

let stage: AudioStage;

beforeAll(async () => {
  stage = await startAudioStage();
});
afterAll(() => stage?.close());

const asked = () => stage.engine.requests.filter(isSpeech);
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
const detailOf = async (answer: Response) => [answer.status, (await answer.json()).detail];
let count = 0;
/** A text that nobody spoke before. */
const fresh = () => `This is text number ${(count += 1)}, which was never spoken before by anybody here.`;

describe("speech", () => {
  it.each(["/api/v1/audio", "/audio/api/v1"])("comes as MP3 at %s", async (base) => {
    const input = fresh();
    const answer = await fetch(`${stage.app.url}${base}/speech`, {
      method: "POST",
      headers: { authorization: `Bearer ${stage.member.token}`, "content-type": "application/json" },
      body: JSON.stringify({ input, voice: "nova", model: "tts-1-hd" }),
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "audio/mpeg"]);
    expect(await bytesOf(answer)).toEqual(mp3());
    expect(asked().at(-1)?.body).toEqual({ model: "tts-1-hd", voice: "nova", input, response_format: "mp3" });
    expect(asked().at(-1)?.headers["authorization"]).toBe("Bearer speech-key-0123");
  });

  it("follows the settings where the caller says nothing, and sends further fields", async () => {
    await stage.set({
      AUDIO_TTS_VOICE: "echo",
      AUDIO_TTS_MODEL: "kokoro",
      AUDIO_TTS_OPENAI_PARAMS: { speed: 1.5 },
    });
    await bytesOf(await stage.speak({ input: fresh() }));
    expect(asked().at(-1)?.body).toMatchObject({ model: "kokoro", voice: "echo", speed: 1.5 });
    await stage.set({ AUDIO_TTS_VOICE: "alloy", AUDIO_TTS_MODEL: "tts-1", AUDIO_TTS_OPENAI_PARAMS: {} });
  });

  it("of several sentences is asked for piece by piece and comes in their order", async () => {
    const sentences = [fresh(), fresh(), fresh()];
    sentences.forEach((_text, at) => stage.engine.reply(isSpeech, speaks(mp3(at + 1))));
    const before = asked().length;
    const answer = await stage.speak({ input: sentences.join(" ") });
    expect(await bytesOf(answer)).toEqual(Buffer.concat([mp3(1), mp3(2), mp3(3)]));
    expect(
      asked()
        .slice(before)
        .map(({ body }) => body.input),
    ).toEqual(sentences);
  });

  it.each([
    ["paragraphs", 2],
    ["none", 1],
  ])("is cut at %s", async (splitOn, pieces) => {
    await stage.set({ AUDIO_TTS_SPLIT_ON: splitOn });
    const before = asked().length;
    await bytesOf(await stage.speak({ input: `${fresh()} ${fresh()}\n\n${fresh()}` }));
    expect(asked().length - before).toBe(pieces);
    await stage.set({ AUDIO_TTS_SPLIT_ON: "punctuation" });
  });

  it("is heard while the next piece is still being spoken", async () => {
    const [first, second] = [fresh(), fresh()];
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    stage.engine.reply(isSpeech, speaks(mp3(1)));
    stage.engine.reply(isSpeech, async (exchange) => {
      await released;
      await speaks(mp3(2))(exchange);
    });
    const reader = (await stage.speak({ input: `${first} ${second}` })).body!.getReader();
    expect(Buffer.from((await reader.read()).value!)).toEqual(mp3(1));
    release();
    expect(Buffer.from((await reader.read()).value!)).toEqual(mp3(2));
  });

  it("of the same piece is paid for once, whoever listens", async () => {
    const [kept, other] = [fresh(), fresh()];
    await bytesOf(await stage.speak({ input: kept }));
    const again = async () => {
      const before = asked().length;
      await bytesOf(await stage.speak({ input: `${kept} ${other}` }, stage.admin));
      return asked().length - before;
    };
    await expect.poll(again).toBe(0);
    const before = asked().length;
    await bytesOf(await stage.speak({ input: kept, voice: "nova" }));
    expect(asked().length - before).toBe(1);
  });

  it("is counted in the usage of its caller", async () => {
    await bytesOf(await stage.speak({ input: fresh() }));
    const usage = async () => (await stage.admin.call("GET /api/v1/analytics/models")).text;
    await expect.poll(usage, { timeout: 15_000 }).toContain("tts-1");
  });
});

describe("speech is refused", () => {
  it.each([
    [{ input: "" }, 422, expect.anything()],
    [{ input: " \n " }, 400, "input: holds nothing to say."],
    [{ input: "x".repeat(20_001) }, 400, "input: must be a text of at most 20000 characters."],
    [{ input: "Hello", response_format: "wav" }, 422, expect.anything()],
  ])("for %j", async (given, status, detail) => {
    expect(await detailOf(await stage.speak(given))).toEqual([status, detail]);
  });

  it("while browsers speak, and for engines that are not here", async () => {
    await stage.set({ AUDIO_TTS_ENGINE: "" });
    expect(await detailOf(await stage.speak({ input: "Hello" }))).toEqual([
      404,
      expect.stringMatching(/^No engine for speech is set up: browsers .* AUDIO_TTS_ENGINE may be openai/),
    ]);
    await stage.set({ AUDIO_TTS_ENGINE: "transformers" });
    expect(await detailOf(await stage.speak({ input: "Hello" }))).toEqual([
      404,
      expect.stringMatching(/^"transformers" is no engine for speech here\./),
    ]);
    await stage.set({ AUDIO_TTS_ENGINE: "openai" });
  });

  it("without the permission, and to nobody", async () => {
    const stored = (await stage.admin.call("GET /api/v1/users/default/permissions")).body;
    const put = (chat: object) =>
      stage.admin.call("POST /api/v1/users/default/permissions", {
        ...stored,
        chat: { ...stored.chat, ...chat },
      });
    await put({ tts: false });
    expect((await stage.speak({ input: "Hello" })).status).toBe(403);
    await put({});
    expect((await stage.speak({ input: "Hello" }, { ...stage.member, token: "none" })).status).toBe(401);
  });
});

describe("an engine that misbehaves is named", () => {
  it.each([
    ["a page of HTML", html(), 502, /^The speech engine answered something that is no sound/],
    ["a page of HTML as an error", html(503), 502, "The speech API answered with status 503."],
    ["JSON in place of sound", json({ ok: true }), 502, /no sound/],
    ["no bytes at all", speaks(Buffer.alloc(0)), 502, "The speech engine answered without a sound."],
    [
      "a wrong key",
      json({ error: { message: "key speech-key-0123 is wrong" } }, { status: 401 }),
      502,
      /Is its key right\?$/,
    ],
    [
      "its own refusal",
      json({ error: { message: "No such voice." } }, { status: 400 }),
      400,
      /It says: No such voice\./,
    ],
    ["too many requests", json({}, { status: 429, headers: { "retry-after": "7" } }), 429, /wait 7 s/],
  ])("for %s", async (_what, script, status, detail) => {
    stage.engine.reply(isSpeech, script);
    expect(await detailOf(await stage.speak({ input: fresh() }))).toEqual([
      status,
      typeof detail === "string" ? detail : expect.stringMatching(detail),
    ]);
  });

  it("for silence, after the time that is set", async () => {
    await stage.set({ AUDIO_TTS_TIMEOUT_SECONDS: 1 });
    stage.engine.reply(isSpeech, async (exchange) => await exchange.wait(60_000));
    expect(await detailOf(await stage.speak({ input: fresh() }))).toEqual([
      504,
      expect.stringMatching(/^The speech API: /),
    ]);
    await stage.set({ AUDIO_TTS_TIMEOUT_SECONDS: 60 });
  });

  it("by a broken answer when it breaks off, and nothing of that is kept", async () => {
    const input = fresh();
    stage.engine.reply(
      isSpeech,
      resetAfter(1_000, speaks(Buffer.concat(Array.from({ length: 50 }, () => mp3())))),
    );
    await expect(stage.speak({ input }).then(bytesOf)).rejects.toThrow();
    const before = asked().length;
    expect(await bytesOf(await stage.speak({ input }))).toEqual(mp3());
    expect(asked().length - before).toBe(1);
  });
});
