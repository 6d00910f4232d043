import { describe, expect, it } from "vitest";
import { mp3, readForm, speaks, toneWav } from "#plugins/audio/audio.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { json } from "#test/support/upstream-scripts.ts";

// Each variable of the audio plugin, set in the environment: what an engine is asked then.

let peer: Upstream;
let app: App;
let admin: TestUser;

setUp(async (keep) => {
  peer = await keep(startUpstream());
  const at = (name: string) => `${peer.origin}/${name}`;
  app = await keep(
    startApp({
      env: {
        AUDIO_TTS_ENGINE: "openai",
        AUDIO_TTS_MODEL: "model-1",
        AUDIO_TTS_VOICE: "voice-1",
        AUDIO_TTS_SPLIT_ON: "none",
        AUDIO_TTS_OPENAI_API_BASE_URL: at("common"),
        AUDIO_TTS_OPENAI_API_KEY: "speech-key",
        AUDIO_TTS_OPENAI_PARAMS: '{"speed": 2}',
        AUDIO_TTS_API_KEY: "eleven-key",
        ELEVENLABS_API_BASE_URL: at("eleven"),
        AUDIO_TTS_AZURE_SPEECH_BASE_URL: at("azure"),
        AUDIO_TTS_AZURE_SPEECH_OUTPUT_FORMAT: "audio-16khz-32kbitrate-mono-mp3",
        AUDIO_TTS_MISTRAL_API_BASE_URL: at("mistral"),
        AUDIO_TTS_MISTRAL_API_KEY: "mistral-key",
        AUDIO_TTS_MAX_CHARACTERS: "200",
        AUDIO_TTS_TIMEOUT_SECONDS: "3",
        AUDIO_STT_ENGINE: "openai",
        AUDIO_STT_MODEL: "model-2",
        WHISPER_LANGUAGE: "nl",
        AUDIO_STT_SUPPORTED_CONTENT_TYPES: "audio/wav,audio/mpeg",
        AUDIO_STT_ALLOWED_EXTENSIONS: "wav,mp3",
        AUDIO_STT_OPENAI_API_BASE_URL: at("common"),
        AUDIO_STT_OPENAI_API_KEY: "common-key",
        DEEPGRAM_API_KEY: "deepgram-key",
        DEEPGRAM_API_BASE_URL: at("deepgram"),
        AUDIO_STT_AZURE_API_KEY: "azure-key",
        AUDIO_STT_AZURE_BASE_URL: at("azure"),
        AUDIO_STT_AZURE_LOCALES: "nl-NL,nl-BE",
        AUDIO_STT_AZURE_MAX_SPEAKERS: "3",
        AUDIO_STT_MISTRAL_API_BASE_URL: at("mistral"),
        AUDIO_STT_MISTRAL_API_KEY: "mistral-key-2",
        AUDIO_STT_MISTRAL_USE_CHAT_COMPLETIONS: "true",
        AUDIO_STT_MAX_MINUTES: "1",
        AUDIO_STT_MAX_SIZE: "1",
        AUDIO_STT_TIMEOUT_SECONDS: "3",
        AUDIO_FFMPEG_PATH: "",
      },
    }),
  );
  admin = await app.admin();
});

const set = async (values: Record<string, unknown>) => {
  const answer = await admin.call("POST /api/v1/configs/settings", values);
  expect(answer.status, answer.text).toBe(200);
};
let count = 0;
const speak = async (more = "") => {
  const input = `Text ${(count += 1)}. ${more}`;
  const answer = await fetch(`${app.url}/api/v1/audio/speech`, {
    method: "POST",
    headers: { authorization: `Bearer ${admin.token}`, "content-type": "application/json" },
    body: JSON.stringify({ input }),
  });
  await answer.arrayBuffer();
  return answer.status;
};
const transcribe = async (bytes: Buffer = toneWav(1), name = "a.wav", type = "audio/wav") => {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(bytes)], { type }), name);
  const headers = { authorization: `Bearer ${admin.token}` };
  const answer = await fetch(`${app.url}/api/v1/audio/transcriptions`, {
    method: "POST",
    headers,
    body: form,
  });
  return { status: answer.status, body: (await answer.json()) as { text?: string; detail?: string } };
};
const asked = (path: string) => peer.requests.findLast((request) => request.path.startsWith(path))!;

describe("the variables of speech", () => {
  it("AUDIO_TTS_OPENAI_*, AUDIO_TTS_MODEL, AUDIO_TTS_VOICE and AUDIO_TTS_SPLIT_ON", async () => {
    peer.always("/common/audio/speech", speaks());
    const before = peer.requests.length;
    const long = "Here is a first sentence of some length. And here is another one of some length.";
    expect(await speak(long)).toBe(200);
    expect(peer.requests.length - before).toBe(1);
    const { headers, body } = asked("/common/audio/speech");
    expect(headers["authorization"]).toBe("Bearer speech-key");
    expect(body).toMatchObject({ model: "model-1", voice: "voice-1", speed: 2 });
  });

  it("AUDIO_TTS_MAX_CHARACTERS and AUDIO_TTS_TIMEOUT_SECONDS", async () => {
    expect(await speak("x".repeat(200))).toBe(400);
    peer.reply("/common/audio/speech", async (exchange) => await exchange.wait(60_000));
    expect(await speak()).toBe(504);
  });

  it("AUDIO_TTS_API_KEY and ELEVENLABS_API_BASE_URL", async () => {
    await set({ AUDIO_TTS_ENGINE: "elevenlabs" });
    peer.always("/eleven/v1/text-to-speech/voice-1/stream", speaks());
    expect(await speak()).toBe(200);
    expect(asked("/eleven/").headers["xi-api-key"]).toBe("eleven-key");
  });

  it("AUDIO_TTS_AZURE_SPEECH_*", async () => {
    await set({ AUDIO_TTS_ENGINE: "azure" });
    peer.always("/azure/cognitiveservices/v1", speaks());
    expect(await speak()).toBe(200);
    expect(asked("/azure/").headers["x-microsoft-outputformat"]).toBe("audio-16khz-32kbitrate-mono-mp3");
    await set({ AUDIO_TTS_AZURE_SPEECH_BASE_URL: "" });
    expect(await speak()).toBe(503);
    const { body } = await admin.call("GET /api/v1/audio/engines");
    expect(body.tts.engines.find(({ id }: { id: string }) => id === "azure").missing).toEqual([
      "AUDIO_TTS_AZURE_SPEECH_REGION",
    ]);
    await set({ AUDIO_TTS_AZURE_SPEECH_REGION: "westeurope" });
    expect((await admin.call("GET /api/v1/audio/engines")).body.tts.is_ready).toBe(true);
  });

  it("AUDIO_TTS_MISTRAL_*", async () => {
    await set({ AUDIO_TTS_ENGINE: "mistral" });
    peer.always("/mistral/audio/speech", json({ audio_data: mp3().toString("base64") }));
    expect(await speak()).toBe(200);
    expect(asked("/mistral/audio/speech").headers["authorization"]).toBe("Bearer mistral-key");
  });
});

describe("the variables of transcription", () => {
  it("AUDIO_STT_OPENAI_*, AUDIO_STT_MODEL and WHISPER_LANGUAGE", async () => {
    peer.always("/common/audio/transcriptions", json({ text: "Hallo." }));
    expect((await transcribe()).body.text).toBe("Hallo.");
    const sent = asked("/common/audio/transcriptions");
    expect(sent.headers["authorization"]).toBe("Bearer common-key");
    expect(await readForm(sent)).toMatchObject({ model: "model-2", language: "nl" });
  });

  it("AUDIO_STT_SUPPORTED_CONTENT_TYPES and AUDIO_STT_ALLOWED_EXTENSIONS", async () => {
    const flac = Buffer.concat([Buffer.from("fLaC"), Buffer.alloc(100)]);
    expect((await transcribe(flac)).body.detail).toMatch(/^file: audio\/flac is not taken here/);
    expect((await transcribe(toneWav(1), "a.flac")).body.detail).toMatch(/^file: names must end in/);
  });

  it("AUDIO_STT_MAX_SIZE, AUDIO_STT_MAX_MINUTES and AUDIO_STT_TIMEOUT_SECONDS", async () => {
    expect((await transcribe(toneWav(70))).status).toBe(413);
    expect((await transcribe(toneWav(61, { rate: 4_000 }))).body.detail).toMatch(/at most 1 minutes/);
    peer.reply("/common/audio/transcriptions", async (exchange) => await exchange.wait(60_000));
    expect((await transcribe()).status).toBe(504);
  });

  it("AUDIO_FFMPEG_PATH", async () => {
    await set({ AUDIO_STT_SUPPORTED_CONTENT_TYPES: [] });
    const aiff = Buffer.concat([Buffer.from("FORM\0\0\0\0AIFF"), Buffer.alloc(100)]);
    expect((await transcribe(aiff)).body.detail).toMatch(/ffmpeg, which this server does not have/);
  });

  it("DEEPGRAM_API_KEY and DEEPGRAM_API_BASE_URL", async () => {
    await set({ AUDIO_STT_ENGINE: "deepgram" });
    peer.always(
      "/deepgram/v1/listen",
      json({ results: { channels: [{ alternatives: [{ transcript: "D" }] }] } }),
    );
    expect((await transcribe()).body.text).toBe("D");
    expect(asked("/deepgram/").headers["authorization"]).toBe("Token deepgram-key");
  });

  it("AUDIO_STT_AZURE_*", async () => {
    await set({ AUDIO_STT_ENGINE: "azure" });
    peer.always("/azure/speechtotext/transcriptions:transcribe", json({ combinedPhrases: [{ text: "A" }] }));
    expect((await transcribe()).body.text).toBe("A");
    expect(asked("/azure/speechtotext").headers["ocp-apim-subscription-key"]).toBe("azure-key");
    const { definition } = await readForm(asked("/azure/speechtotext"));
    expect(JSON.parse(definition as string)).toEqual({
      locales: ["nl-NL", "nl-BE"],
      diarization: { enabled: true, maxSpeakers: 3 },
    });
    await set({ AUDIO_STT_AZURE_BASE_URL: "" });
    expect((await transcribe()).body.detail).toBe(
      "Azure Speech needs AUDIO_STT_AZURE_REGION, which is not set.",
    );
  });

  it("AUDIO_STT_MISTRAL_*", async () => {
    await set({ AUDIO_STT_ENGINE: "mistral" });
    peer.always("/mistral/chat/completions", json({ choices: [{ message: { content: "M" } }] }));
    expect((await transcribe()).body.text).toBe("M");
    expect(asked("/mistral/chat").headers["authorization"]).toBe("Bearer mistral-key-2");
    await set({ AUDIO_STT_MISTRAL_USE_CHAT_COMPLETIONS: false });
    peer.always("/mistral/audio/transcriptions", json({ text: "T" }));
    expect((await transcribe()).body.text).toBe("T");
  });
});
