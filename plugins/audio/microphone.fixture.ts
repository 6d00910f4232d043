import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wavHead } from "./audio.fixture.ts";

const rate = 48_000;

/** A person who speaks for a second and a half and is silent for three; browsers play it again and again. */
function talkingWav(): Buffer {
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

/** Switches of Chromium for a microphone that plays it and that pages may open. */
export function makeMicrophone(): { readonly switches: readonly string[]; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "microphone-"));
  const recording = join(folder, "talking.wav");
  writeFileSync(recording, talkingWav());
  return {
    switches: [
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      `--use-file-for-fake-audio-capture=${recording}`,
      "--autoplay-policy=no-user-gesture-required",
    ],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
