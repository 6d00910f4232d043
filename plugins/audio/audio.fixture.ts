import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { body, json } from "#test/support/upstream-scripts.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";

/** One channel of 16-bit samples: a tone that sounds and rests by turns of a second, so that there are silences to cut at. */
export function toneWav(seconds: number, { rate = 8_000, rests = true } = {}): Buffer {
  const samples = Math.round(seconds * rate);
  const data = Buffer.alloc(samples * 2);
  for (let at = 0; at < samples; at += 1) {
    const isResting = rests && Math.floor(at / rate) % 2 === 1;
    data.writeInt16LE(isResting ? 0 : Math.round(9_000 * Math.sin((at * 2 * Math.PI * 440) / rate)), at * 2);
  }
  return Buffer.concat([wavHead({ rate, bytes: data.length }), data]);
}

export function wavHead({ rate, bytes }: { rate: number; bytes: number }): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + bytes, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(bytes, 40);
  return head;
}

/** True where the decoder is installed that long recordings need. */
export const hasDecoder = canRun("ffmpeg");

/** The same sound in another format, whose ending names it. */
export function encode(wav: Buffer, ending: string, ...options: readonly string[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "encode-"));
  try {
    // Some formats write their sizes into their heads at the end, which a pipe cannot take.
    const path = join(folder, `sound.${ending}`);
    const input = ["-v", "error", "-f", "wav", "-i", "pipe:0"];
    execFileSync("ffmpeg", [...input, ...options, path], { input: wav });
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Silence, which packs into next to nothing. */
export function silentFlac(seconds: number): Buffer {
  const source = ["-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", String(seconds)];
  return execFileSync("ffmpeg", ["-v", "error", ...source, "-f", "flac", "pipe:1"], {
    maxBuffer: 64 * 1024 * 1024,
  });
}

function canRun(program: string): boolean {
  try {
    execFileSync(program, ["-version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A frame of MPEG audio, layer III, 128 kbit/s at 44.1 kHz, of silence. */
const frame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0xc4]), Buffer.alloc(413)]);

/** A short MP3 that differs from the others by its number. */
export function mp3(mark = 0): Buffer {
  const marked = Buffer.from(frame);
  marked[100] = mark;
  return Buffer.concat([marked, frame]);
}

export const speaks = (bytes: Uint8Array = mp3(), type = "audio/mpeg") =>
  body(bytes, { headers: { "content-type": type } });

type Told = Pick<UpstreamRequest, "path" | "bytes" | "headers">;

export const isSpeech = ({ path }: { path: string }) => path.endsWith("/audio/speech");
export const isTranscription = ({ path }: { path: string }) => path.endsWith("/audio/transcriptions");

/** The form that an engine was sent. */
export async function readForm({ bytes, headers }: Told): Promise<Record<string, string | File>> {
  const type = String(headers["content-type"]);
  const form = await new Response(Buffer.from(bytes), { headers: { "content-type": type } }).formData();
  return Object.fromEntries(form) as Record<string, string | File>;
}

/** A platform whose engines for speech and transcription are one scripted server of the common format. */
export interface AudioStage {
  readonly app: App;
  readonly engine: Upstream;
  readonly admin: TestUser;
  readonly member: TestUser;
  set(values: Record<string, unknown>): Promise<void>;
  speak(given: object, who?: TestUser): Promise<Response>;
  transcribe(
    bytes: Uint8Array,
    options?: Sent,
  ): Promise<{ status: number; body: { text?: string; filename?: string; detail?: string } }>;
  close(): Promise<void>;
}

export interface Sent {
  readonly name?: string;
  readonly type?: string;
  readonly language?: string;
  readonly who?: TestUser;
  readonly base?: string;
}

export async function startAudioStage(env: Record<string, string> = {}): Promise<AudioStage> {
  const engine = await useUpstream();
  const app = await useApp({
    env: {
      AUDIO_TTS_ENGINE: "openai",
      AUDIO_TTS_OPENAI_API_BASE_URL: `${engine.origin}/v1/`,
      AUDIO_TTS_OPENAI_API_KEY: "speech-key-0123",
      AUDIO_STT_ENGINE: "openai",
      AUDIO_STT_OPENAI_API_BASE_URL: `${engine.origin}/v1/`,
      AUDIO_STT_OPENAI_API_KEY: "hear-key-0123",
      ...env,
    },
  });
  const [admin, member] = [await app.admin(), await app.user()];
  engine.always(isSpeech, speaks());
  engine.always(isTranscription, json({ text: "Hello there." }));
  return {
    app,
    engine,
    admin,
    member,
    async set(values) {
      const answer = await admin.call("POST /api/v1/configs/settings", values);
      expect(answer.status, answer.text).toBe(200);
    },
    speak: (given, who = member) =>
      fetch(`${app.url}/api/v1/audio/speech`, {
        method: "POST",
        headers: { authorization: `Bearer ${who.token}`, "content-type": "application/json" },
        body: JSON.stringify(given),
      }),
    async transcribe(bytes, { name = "talk.wav", type = "audio/wav", language, who = member, base } = {}) {
      const form = new FormData();
      form.append("file", new Blob([Buffer.from(bytes)], { type }), name);
      if (language !== undefined) {
        form.append("language", language);
      }
      const answer = await fetch(`${app.url}${base ?? "/api/v1/audio"}/transcriptions`, {
        method: "POST",
        headers: { authorization: `Bearer ${who.token}` },
        body: form,
      });
      return { status: answer.status, body: await answer.json() };
    },
    async close() {
      await app.close();
      await engine.close();
    },
  };
}
