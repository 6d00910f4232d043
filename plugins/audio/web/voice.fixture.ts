import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { openBrowser } from "#test/support/browser.ts";
import { buildInterface, openPage, type OpenOptions, type OpenPage } from "#test/support/interface.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { isSpeech, isTranscription, speaks, toneWav, wavHead } from "../audio.fixture.ts";

const rate = 48_000;

/** A person who speaks for a second and a half and is silent for three; browsers play it again and again. */
export function talkingWav(): Buffer {
  const parts = [
    { seconds: 0.5, loudness: 0 },
    { seconds: 1.5, loudness: 12_000 },
    { seconds: 3, loudness: 0 },
  ];
  const samples = parts.flatMap(({ seconds, loudness }) =>
    Array.from({ length: seconds * rate }, (_, at) => {
      // Syllables of changing pitch: a steady tone is taken for noise and damped.
      const time = at / rate;
      const pitch = 180 + 80 * Math.sin(time * 9);
      const syllable = 0.55 + 0.45 * Math.sin(time * 2 * Math.PI * 4);
      return loudness * syllable * (Math.sin(time * 2 * Math.PI * pitch) + 0.4 * Math.sin(time * 7 * pitch));
    }),
  );
  const data = Buffer.alloc(samples.length * 2);
  samples.forEach((sample, at) => data.writeInt16LE(Math.round(sample), at * 2));
  return Buffer.concat([wavHead({ rate, bytes: data.length }), data]);
}

/** The platform with scripted engines, and a browser whose microphone plays `talkingWav`. */
export interface VoiceStage {
  readonly world: AppWithUpstream;
  readonly engine: Upstream;
  readonly token: string;
  readonly browser: Browser;
  open(options?: Pick<OpenOptions, "size" | "theme" | "locale" | "path">): Promise<OpenPage>;
  /** Own settings of the account. */
  set(ui: Record<string, unknown>): Promise<void>;
  /** Texts that the engine was given to speak. */
  spoken(): string[];
  close(): Promise<void>;
}

export async function startVoiceStage(): Promise<VoiceStage> {
  await buildInterface();
  const engine = await startUpstream();
  const world = await startAppWithUpstream({
    env: {
      AUDIO_TTS_ENGINE: "openai",
      AUDIO_TTS_OPENAI_API_BASE_URL: `${engine.origin}/v1`,
      AUDIO_TTS_OPENAI_API_KEY: "speech-key-0123",
      AUDIO_STT_ENGINE: "openai",
      AUDIO_STT_OPENAI_API_BASE_URL: `${engine.origin}/v1`,
      AUDIO_STT_OPENAI_API_KEY: "hear-key-0123",
    },
  });
  engine.always(isSpeech, speaks(toneWav(1, { rests: false }), "audio/wav"));
  engine.always(isTranscription, json({ text: "Hello there." }));
  const { token } = await world.app.admin();
  const folder = mkdtempSync(join(tmpdir(), "voice-"));
  const recording = join(folder, "talking.wav");
  writeFileSync(recording, talkingWav());
  const browser = await openBrowser([
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    `--use-file-for-fake-audio-capture=${recording}`,
    "--autoplay-policy=no-user-gesture-required",
  ]);
  return {
    world,
    engine,
    token,
    browser,
    open: (options = {}) => openPage(browser, { url: world.app.url, token, ...options }),
    async set(ui) {
      await world.app.call("POST /api/v1/users/user/settings/update", { token, body: { ui } });
    },
    spoken: () =>
      engine.requests.filter(isSpeech).map(({ body }) => String((body as { input?: unknown }).input)),
    async close() {
      await browser.close();
      await world.close();
      await engine.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
