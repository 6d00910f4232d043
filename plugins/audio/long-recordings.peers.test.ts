import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { json } from "#test/support/upstream-scripts.ts";
import {
  type AudioStage,
  encode,
  hasDecoder,
  isTranscription,
  readForm,
  silentFlac,
  startAudioStage,
  toneWav,
} from "./audio.fixture.ts";

// Recordings beyond what engines take at once: cut at silences, converted, or refused with the reason.

let stage: AudioStage;
/** A platform without ffmpeg. */
let plain: AudioStage;

beforeAll(async () => {
  stage = await startAudioStage({ AUDIO_STT_MODEL: "gpt-4o-transcribe" });
  plain = await startAudioStage({ AUDIO_FFMPEG_PATH: "" });
});
afterAll(async () => {
  await stage?.close();
  await plain?.close();
});
afterEach(async () => {
  const left = await readdir(tmpdir());
  expect(left.filter((name) => name.startsWith("millrace-audio-"))).toEqual([]);
});

/** Counts the pieces, each of which is answered with its place in the recording. */
const answerInOrder = ({ engine }: AudioStage) => {
  let count = 0;
  engine.always(isTranscription, async (exchange) => {
    count += 1;
    await json({ text: `Piece ${count}.` })(exchange);
  });
  return () => count;
};
/** Of MP3 with 32 kbit/s. */
const seconds = (given: File) => given.size / 4_000;

describe("without ffmpeg", () => {
  it("WAV is cut into pieces that the engine takes", async () => {
    const count = answerInOrder(plain);
    // Half an hour at 8 kHz: 28 MB.
    const answer = await plain.transcribe(toneWav(1_800));
    expect(answer).toMatchObject({
      status: 200,
      body: { text: expect.stringMatching(/^Piece \d\.\nPiece/) },
    });
    expect(count()).toBe(4);
    const sizes = await Promise.all(
      plain.engine.requests.filter(isTranscription).map(async (request) => {
        const { file } = await readForm(request);
        return (file as File).size;
      }),
    );
    expect(Math.max(...sizes)).toBeLessThanOrEqual(600 * 16_000 + 512);
    expect(sizes.reduce((sum, size) => sum + size - 44, 0)).toBe(1_800 * 16_000);
  });

  it("others are refused with the reason", async () => {
    const mp3 = Buffer.concat([Buffer.from("ID3"), Buffer.alloc(26 * 1024 * 1024)]);
    expect(await plain.transcribe(mp3, { name: "a.mp3" })).toMatchObject({
      status: 413,
      body: {
        detail: expect.stringMatching(
          /^The recording has 27 MB, and .* takes 25 MB at once\. Longer ones are cut with ffmpeg/,
        ),
      },
    });
    const aiff = Buffer.concat([Buffer.from("FORM\0\0\0\0AIFF"), Buffer.alloc(100)]);
    expect(await plain.transcribe(aiff)).toMatchObject({
      status: 400,
      body: {
        detail: expect.stringMatching(/reads wav, mp3, .* not aiff\. Others are converted with ffmpeg/),
      },
    });
  });

  it("WAV that lasts too long is refused", async () => {
    await plain.set({ AUDIO_STT_MAX_MINUTES: 1 });
    expect(await plain.transcribe(toneWav(61))).toMatchObject({
      status: 413,
      body: { detail: "Recordings may last at most 1 minutes here (AUDIO_STT_MAX_MINUTES)." },
    });
    await plain.set({ AUDIO_STT_MAX_MINUTES: 120 });
  });
});

describe.runIf(hasDecoder)("with ffmpeg", () => {
  it("what is longer than the engine takes is cut at silences", async () => {
    const count = answerInOrder(stage);
    const before = stage.engine.requests.length;
    const flac = encode(toneWav(1_600, { rate: 4_000 }), "flac");
    const answer = await stage.transcribe(flac, { name: "talk.flac", type: "audio/flac" });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(count()).toBe(3);
    const lengths = await Promise.all(
      stage.engine.requests.slice(before).map(async (request) => {
        const { file } = await readForm(request);
        return seconds(file as File);
      }),
    );
    expect(lengths.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1_600, -1);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(601);
  });

  it("two hours come in order, and longer ones are refused before the engine is asked", async () => {
    const count = answerInOrder(stage);
    const answer = await stage.transcribe(silentFlac(7_190), { name: "long.flac" });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.body.text?.split("\n")).toHaveLength(12);
    expect(count()).toBe(12);
    expect(await stage.transcribe(silentFlac(7_300), { name: "long.flac" })).toMatchObject({
      status: 413,
      body: { detail: "Recordings may last at most 120 minutes here (AUDIO_STT_MAX_MINUTES)." },
    });
    expect(count()).toBe(12);
  });

  it("formats that the engine does not take are converted, and films give their sound", async () => {
    answerInOrder(stage);
    for (const format of ["aiff", "aac"]) {
      const bytes = encode(toneWav(3), format);
      const answer = await stage.transcribe(bytes, { name: "talk.bin", type: "application/octet-stream" });
      expect([format, answer.status]).toEqual([format, 200]);
      const { file } = await readForm(stage.engine.requests.at(-1)!);
      expect((file as File).type).toBe("audio/mpeg");
      expect(seconds(file as File)).toBeCloseTo(3, 0);
    }
  });

  it.each([
    ["opus in WebM", "webm", "recording.webm", "audio/webm"],
    ["Ogg", "opus", "recording.ogg", "audio/ogg"],
    ["MP3", "mp3", "recording.mp3", "audio/mpeg"],
    ["M4A", "m4a", "recording.m4a", "audio/mp4"],
  ])("short %s goes as it is", async (_what, ending, name, type) => {
    const bytes = encode(toneWav(2), ending);
    expect((await stage.transcribe(bytes, { name: "a", type: "" })).status).toBe(200);
    const { file } = await readForm(stage.engine.requests.at(-1)!);
    expect([(file as File).name, (file as File).type, (file as File).size]).toEqual([
      name,
      type,
      bytes.length,
    ]);
  });

  it("a broken one is refused in words that name no path", async () => {
    const broken = Buffer.concat([Buffer.from("FORM\0\0\0\0AIFF"), Buffer.alloc(1_000, 7)]);
    const { status, body } = await stage.transcribe(broken);
    expect([status, body.detail]).toEqual([
      400,
      expect.stringMatching(/^file: the recording cannot be read\./),
    ]);
    expect(body.detail).not.toContain(tmpdir());
  });

  it("a list of other files is not followed", async () => {
    const list = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n";
    expect(
      (await stage.transcribe(Buffer.from(list), { name: "a.m3u8", type: "audio/mpegurl" })).status,
    ).toBe(400);
  });

  it("a piece that fails once is tried again; one that goes on failing is told", async () => {
    const count = answerInOrder(stage);
    stage.engine.reply(isTranscription, json({}, { status: 503 }));
    const flac = silentFlac(1_600);
    expect((await stage.transcribe(flac)).status).toBe(200);
    expect(count()).toBe(3);
    stage.engine.always(isTranscription, json({ error: { message: "Out of order." } }, { status: 503 }));
    expect(await stage.transcribe(flac)).toMatchObject({
      status: 502,
      body: { detail: "The transcription API answered with status 503. It says: Out of order." },
    });
  });
});
