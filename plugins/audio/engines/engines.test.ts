import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Egress } from "#kernel/egress/egress.ts";
import { openEgress } from "#test/support/egress.ts";
import { html } from "#test/support/upstream-faults.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { mp3, readForm, speaks, toneWav } from "../audio.fixture.ts";
import { type AudioSettings, audioVariables } from "../config.ts";
import type { Recording, Sound } from "../service.ts";
import { createSpeechEngines, createTranscriptionEngines } from "./engines.ts";

// Contracts of the engines' own documentation.

let peer: Upstream;
let egress: Egress;
let settings: Record<string, unknown>;

beforeAll(async () => {
  peer = await startUpstream();
  egress = openEgress({ allowRedirects: () => true });
  settings = Object.fromEntries(
    Object.entries(audioVariables).map(([name, { default: value }]) => [name, value]),
  );
});
afterAll(async () => {
  await egress?.close();
  await peer?.close();
});

const partsOf = (changes: Record<string, unknown>) => ({
  egress,
  settings: { ...settings, ttsTimeout: 5, sttTimeout: 5, ...changes } as unknown as AudioSettings,
});
const speaker = (id: string, changes: Record<string, unknown> = {}) =>
  createSpeechEngines(partsOf(changes)).find((each) => each.id === id)!;
const hearer = (id: string, changes: Record<string, unknown> = {}) =>
  createTranscriptionEngines(partsOf(changes)).find((each) => each.id === id)!;
const { signal } = new AbortController();
const wish = { text: "It's <5 & more.", model: "tts-1", voice: "alloy", signal };
const wav = toneWav(1);
const recording: Recording = {
  container: "wav",
  contentType: "audio/wav",
  filename: "recording.wav",
  bytes: new Uint8Array(wav),
};
const heard = { recording, model: "", language: undefined, signal };
const at = (path: string) => (request: { path: string }) => request.path.split("?")[0] === path;
const asked = (path: string) => peer.requests.findLast(at(path))!;
const bytesOf = async ({ bytes }: Sound) => Buffer.concat(await Array.fromAsync(bytes));

describe("elevenlabs", () => {
  const changes = () => ({ ttsElevenUrl: peer.origin, ttsKey: "eleven-key" });

  it("speaks with the voice that is asked for, or its first one", async () => {
    peer.always(at("/v1/text-to-speech/adam/stream"), speaks(mp3(1)));
    peer.always(at("/v1/text-to-speech/first/stream"), speaks(mp3(2)));
    peer.always(at("/v1/voices"), json({ voices: [{ voice_id: "first", name: "Rachel" }] }));
    const engine = speaker("elevenlabs", changes());
    expect(await bytesOf(await engine.speak({ ...wish, voice: "adam", model: "eleven_v3" }))).toEqual(mp3(1));
    const sent = asked("/v1/text-to-speech/adam/stream");
    expect(sent.path).toBe("/v1/text-to-speech/adam/stream?output_format=mp3_44100_128");
    expect(sent.headers["xi-api-key"]).toBe("eleven-key");
    expect(sent.body).toEqual({ text: wish.text, model_id: "eleven_v3" });
    expect(await bytesOf(await engine.speak(wish))).toEqual(mp3(2));
    await bytesOf(await engine.speak(wish));
    expect(peer.requests.filter(at("/v1/voices"))).toHaveLength(1);
    expect(asked("/v1/text-to-speech/first/stream").body.model_id).toBe("eleven_multilingual_v2");
    expect(await engine.voices(signal)).toEqual([{ id: "first", name: "Rachel" }]);
  });

  it("lists the models that speak, and tells its refusals", async () => {
    const models = [
      { model_id: "a", name: "A", can_do_text_to_speech: true },
      { model_id: "b", name: "B", can_do_text_to_speech: false },
    ];
    peer.always(at("/v1/models"), json(models));
    expect(await speaker("elevenlabs", changes()).models(signal)).toEqual([{ id: "a", name: "A" }]);
    const detail = { status: "voice_not_found", message: "There is no such voice." };
    peer.reply(at("/v1/text-to-speech/none/stream"), json({ detail }, { status: 404 }));
    await expect(speaker("elevenlabs", changes()).speak({ ...wish, voice: "none" })).rejects.toMatchObject({
      code: "upstream",
      detail: "ElevenLabs answered with status 404. It says: There is no such voice.",
    });
  });
});

describe("azure speech", () => {
  const changes = () => ({ ttsAzureUrl: `${peer.origin}/`, ttsKey: "azure-key" });

  it("takes SSML in which texts stand as texts, in the voice's language", async () => {
    peer.always(at("/cognitiveservices/v1"), speaks());
    const voice = "de-DE-KatjaNeural";
    expect(await bytesOf(await speaker("azure", changes()).speak({ ...wish, voice }))).toEqual(mp3());
    const { headers, body } = asked("/cognitiveservices/v1");
    expect(headers).toMatchObject({
      "ocp-apim-subscription-key": "azure-key",
      "content-type": "application/ssml+xml",
      "x-microsoft-outputformat": "audio-24khz-160kbitrate-mono-mp3",
    });
    expect(body).toBe(
      '<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="de-DE">' +
        `<voice name="${voice}">It&apos;s &lt;5 &amp; more.</voice></speak>`,
    );
    await speaker("azure", changes()).speak({ ...wish, voice: `"/><x` });
    expect(asked("/cognitiveservices/v1").body).toContain('<voice name="&quot;/&gt;&lt;x">');
  });

  it("lists voices, joins MP3 alone, and needs a key and a region", async () => {
    const list = [{ ShortName: "de-DE-KatjaNeural", DisplayName: "Katja", Locale: "de-DE" }];
    peer.always(at("/cognitiveservices/voices/list"), json(list));
    const engine = speaker("azure", changes());
    expect(await engine.voices(signal)).toEqual([{ id: "de-DE-KatjaNeural", name: "Katja (de-DE)" }]);
    expect(engine.isJoinable()).toBe(true);
    expect(speaker("azure", { ttsAzureFormat: "riff-24khz-16bit-mono-pcm" }).isJoinable()).toBe(false);
    expect(speaker("azure").missing()).toEqual(["AUDIO_TTS_API_KEY", "AUDIO_TTS_AZURE_SPEECH_REGION"]);
    expect(speaker("azure", { ttsKey: "k", ttsAzureRegion: "westeurope" }).facts()).toEqual([
      "https://westeurope.tts.speech.microsoft.com",
      "audio-24khz-160kbitrate-mono-mp3",
    ]);
  });
});

describe("mistral", () => {
  const spoken = () => ({ ttsMistralUrl: `${peer.origin}/v1`, ttsMistralKey: "m-key" });
  const written = () => ({ sttMistralUrl: `${peer.origin}/v1`, sttMistralKey: "m-key" });

  it("speaks as base64 within JSON", async () => {
    const path = "/v1/audio/speech";
    peer.always(at(path), json({ audio_data: mp3(3).toString("base64") }));
    expect(await bytesOf(await speaker("mistral", spoken()).speak({ ...wish, voice: "v1" }))).toEqual(mp3(3));
    expect(asked(path).headers["authorization"]).toBe("Bearer m-key");
    expect(asked(path).body).toEqual({
      model: "voxtral-mini-tts-2603",
      input: wish.text,
      response_format: "mp3",
      voice_id: "v1",
    });
    peer.always(at("/v1/audio/voices"), json({ items: [{ id: "v1", name: "Marie" }], total: 1 }));
    expect(await speaker("mistral", spoken()).voices(signal)).toEqual([{ id: "v1", name: "Marie" }]);
    peer.reply(at(path), json({ nothing: true }));
    await expect(speaker("mistral", spoken()).speak(wish)).rejects.toMatchObject({ code: "upstream" });
  });

  it("writes down by a form, or by a chat model that hears", async () => {
    peer.always(at("/v1/audio/transcriptions"), json({ text: " Bonjour. ", language: "fr" }));
    expect(await hearer("mistral", written()).transcribe({ ...heard, language: "fr-CA" })).toBe("Bonjour.");
    const { file, ...fields } = await readForm(asked("/v1/audio/transcriptions"));
    expect(fields).toEqual({ model: "voxtral-mini-latest", language: "fr" });
    expect(Buffer.from(await (file as File).arrayBuffer())).toEqual(wav);
    const path = "/v1/chat/completions";
    peer.always(at(path), json({ choices: [{ message: { content: "Salut." } }] }));
    const chat = hearer("mistral", { ...written(), sttMistralChat: true });
    expect(await chat.transcribe({ ...heard, language: "fr" })).toBe("Salut.");
    const [{ content }] = asked(path).body.messages;
    expect(content[0]).toEqual({ type: "input_audio", input_audio: wav.toString("base64") });
    expect(content[1].text).toContain('"fr"');
    expect([...chat.limits("").containers]).toEqual(["wav", "mp3"]);
  });
});

describe("deepgram", () => {
  const changes = () => ({ sttDeepgramUrl: peer.origin, sttDeepgramKey: "d-key" });
  const answer = { results: { channels: [{ alternatives: [{ transcript: "Good morning." }] }] } };

  it("takes the bytes and finds out the language, unless it is named", async () => {
    peer.always(at("/v1/listen"), json(answer));
    expect(await hearer("deepgram", changes()).transcribe(heard)).toBe("Good morning.");
    const sent = asked("/v1/listen");
    expect(sent.path).toBe("/v1/listen?model=nova-3&smart_format=true&detect_language=true");
    expect(sent.headers).toMatchObject({ authorization: "Token d-key", "content-type": "audio/wav" });
    expect(Buffer.from(sent.bytes)).toEqual(wav);
    await hearer("deepgram", changes()).transcribe({ ...heard, model: "nova-2", language: "de" });
    expect(asked("/v1/listen").path).toBe("/v1/listen?model=nova-2&smart_format=true&language=de");
  });

  it.each([
    [
      "its own words",
      json({ err_msg: "Bad audio.", err_code: "x" }, { status: 400 }),
      "invalid",
      /It says: Bad audio\./,
    ],
    ["another shape", json({ results: {} }), "upstream", /without a text/],
    ["a page of HTML", html(), "upstream", /something other than JSON/],
    ["a wrong key", json({ err_msg: "d-key" }, { status: 401 }), "upstream", /Is its key right\?$/],
  ])("tells %s", async (_what, script, code, detail) => {
    peer.reply(at("/v1/listen"), script);
    const failed = hearer("deepgram", changes()).transcribe(heard);
    await expect(failed).rejects.toMatchObject({ code, detail: expect.stringMatching(detail) });
  });
});

describe("azure transcription", () => {
  const path = "/speechtotext/transcriptions:transcribe";
  const changes = (more: object = {}) => ({ sttAzureUrl: peer.origin, sttAzureKey: "a-key", ...more });
  const phrases = [
    { speaker: 1, text: "Hello." },
    { speaker: 1, text: "You there?" },
    { speaker: 2, text: "Yes." },
  ];
  const definitionOf = async () => JSON.parse((await readForm(asked(path)))["definition"] as string);

  it("takes a form, with locales that fit the language", async () => {
    peer.always(at(path), json({ combinedPhrases: [{ text: "Hello. You there? Yes." }], phrases: [] }));
    const locales = ["en-US", "de-CH", "de-DE"];
    const engine = hearer("azure", changes({ sttAzureLocales: locales }));
    expect(await engine.transcribe(heard)).toBe("Hello. You there? Yes.");
    expect(asked(path).path).toBe(`${path}?api-version=2024-11-15`);
    expect(asked(path).headers["ocp-apim-subscription-key"]).toBe("a-key");
    expect(await definitionOf()).toEqual({ locales });
    expect(((await readForm(asked(path)))["audio"] as File).size).toBe(wav.length);
    for (const [language, expected] of [
      ["de", ["de-CH", "de-DE"]],
      ["de-de", ["de-DE"]],
      ["fr", ["fr-FR"]],
      ["pt-BR", ["pt-BR"]],
    ] as const) {
      await engine.transcribe({ ...heard, language });
      expect((await definitionOf()).locales).toEqual(expected);
    }
  });

  it("gives each speaker a line where they are told apart", async () => {
    peer.always(at(path), json({ combinedPhrases: [{ text: "Hello. You there? Yes." }], phrases }));
    const text = await hearer("azure", changes({ sttAzureSpeakers: 2 })).transcribe(heard);
    expect(text).toBe("Speaker 1: Hello. You there?\nSpeaker 2: Yes.");
    expect((await definitionOf()).diarization).toEqual({ enabled: true, maxSpeakers: 2 });
  });

  it("needs a key and a region", () => {
    expect(hearer("azure").missing()).toEqual(["AUDIO_STT_AZURE_API_KEY", "AUDIO_STT_AZURE_REGION"]);
    expect(hearer("azure", { sttAzureKey: "k", sttAzureRegion: "eastus" }).missing()).toEqual([]);
  });
});

describe("the common format", () => {
  it("lists what is known of the vendor's own host, and asks others", async () => {
    expect(await speaker("openai").voices(signal)).toContainEqual({ id: "alloy", name: "alloy" });
    expect(await hearer("openai").models(signal)).toContainEqual({ id: "whisper-1", name: "whisper-1" });
    peer.always(at("/own/models"), json({ data: [{ id: "large-v3" }] }));
    const own = hearer("openai", { sttOpenaiUrl: `${peer.origin}/own` });
    expect(await own.models(signal)).toEqual([{ id: "large-v3", name: "large-v3" }]);
  });

  it("takes 25 minutes of the vendor's newer models, and joins no WAV", () => {
    expect(hearer("openai").limits("gpt-4o-transcribe").seconds).toBe(1_500);
    expect(hearer("openai").limits("whisper-1").seconds).toBeNull();
    expect(speaker("openai", { ttsOpenaiParams: { response_format: "wav" } }).isJoinable()).toBe(false);
  });
});
