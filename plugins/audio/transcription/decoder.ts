import { AppError } from "#kernel/errors.ts";
import { createFairQueue } from "#kernel/fair-queue.ts";
import type { Container } from "../service.ts";
import { execute } from "./limited-process.ts";

export interface DecoderOptions {
  /** AUDIO_FFMPEG_PATH, "" for none. */
  program(): string;
  /** Seconds that one run may take. */
  seconds(): number;
}

/** A run, with the person whose turn it takes. */
interface Run {
  readonly person: string;
  readonly signal: AbortSignal;
}

interface Source extends Run {
  readonly path: string;
  readonly container: Container;
}

/** A part of a WAV file, in seconds. */
export interface WavPart extends Run {
  readonly path: string;
  readonly start: number;
  readonly seconds: number;
}

/** Reads recordings with ffmpeg, in processes of their own. */
export interface Decoder {
  isThere(): Promise<boolean>;
  /** Length in seconds by the packets of the first sound track, none of which is decoded. Throws `invalid`. */
  measure(source: Source): Promise<number>;
  /** Writes the first sound track as mono WAV of 16 kHz and 16 bits, at most `seconds` of it. Throws `invalid`. */
  toWav(source: Source, target: { readonly path: string; readonly seconds: number }): Promise<void>;
  /** Packs a part of what `toWav` wrote as MP3, an eighth of its bytes; false where the program cannot write MP3. */
  pack(part: WavPart, target: string): Promise<boolean>;
}

/** Names of the readers: the container was found out by its bytes, and nothing else is to be tried on them. */
const demuxers: Readonly<Record<Container, string>> = {
  wav: "wav",
  mp3: "mp3",
  ogg: "ogg",
  flac: "flac",
  mp4: "mov",
  webm: "matroska",
  aac: "aac",
  aiff: "aiff",
  amr: "amr",
  avi: "avi",
};

/** Runs at the same time; more wait for their turns. */
const mostRuns = 2;
/** Milliseconds after which an absent program is looked for again. */
const lookAgainMs = 60_000;

/**
 * Recordings are strangers' bytes: each run has limits of memory, time and output, reads nothing but the one file, and
 * knows nothing of this process's environment.
 */
export function createDecoder({ program, seconds }: DecoderOptions): Decoder {
  const inTurn = createFairQueue(() => mostRuns);
  let known:
    | { readonly program: string; readonly isThere: Promise<boolean>; readonly until: number }
    | undefined;
  const run = (args: readonly string[], { person, signal }: Run) =>
    inTurn(person, () => execute({ program: program(), args, seconds: seconds(), signal }), signal);
  const look = async (name: string): Promise<boolean> => {
    try {
      const limits = { seconds: 10, signal: AbortSignal.timeout(10_000) };
      return (await execute({ program: name, args: ["-hide_banner", "-version"], ...limits })).code === 0;
    } catch {
      return false;
    }
  };
  return {
    isThere() {
      const name = program();
      if (name === "") {
        return Promise.resolve(false);
      }
      if (known?.program !== name || known.until < Date.now()) {
        known = { program: name, isThere: look(name), until: Date.now() + lookAgainMs };
      }
      return known.isThere;
    },
    async measure(source) {
      const options = ["-c", "copy", "-progress", "pipe:1", "-f", "null", "-"];
      const { code, output, complaint } = await run([...toInput(source), ...options], source);
      const last = [...output.matchAll(/^out_time_(?:us|ms)=(\d+)$/gm)].at(-1)?.[1];
      if (code !== 0) {
        throw toUnreadable(complaint, source.path);
      }
      return Number(last ?? 0) / 1_000_000;
    },
    async toWav(source, target) {
      const options = [
        "-ac",
        "1",
        "-ar",
        "16000",
        "-c:a",
        "pcm_s16le",
        "-t",
        String(target.seconds),
        "-f",
        "wav",
      ];
      const args = [...toInput(source), ...options, "-y", `file:${target.path}`];
      const { code, complaint } = await run(args, source);
      if (code !== 0) {
        throw toUnreadable(complaint, source.path);
      }
    },
    async pack(given, target) {
      const { path, start, seconds: length } = given;
      const part = ["-f", "wav", "-ss", start.toFixed(4), "-t", length.toFixed(4), "-i", `file:${path}`];
      const options = ["-c:a", "libmp3lame", "-b:a", "32k", "-f", "mp3", "-y", `file:${target}`];
      return (await run([...quiet, "-protocol_whitelist", "file", ...part, ...options], given)).code === 0;
    },
  };
}

const quiet = ["-hide_banner", "-nostdin", "-v", "error", "-threads", "1", "-max_alloc", "268435456"];

function toInput({ path, container }: Source): string[] {
  const input = ["-protocol_whitelist", "file,pipe", "-f", demuxers[container], "-i", `file:${path}`];
  return [...quiet, ...input, "-map", "0:a:0", "-vn", "-sn", "-dn"];
}

/** The program's last words without the place of the file. */
function toUnreadable(complaint: string, path: string): AppError {
  const words = complaint
    .replaceAll(`file:${path}`, "the recording")
    .replaceAll(path, "the recording")
    .trim()
    .split("\n")
    .at(-1)
    ?.replace(/^\[[^\]]*\]\s*/, "")
    .slice(0, 200);
  return new AppError(
    "invalid",
    `file: the recording cannot be read.${words ? ` ffmpeg says: ${words}` : ""}`,
  );
}
