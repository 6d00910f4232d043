import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "#kernel/errors.ts";
import { toEnding } from "../container.ts";
import type { Recording, TranscriptionLimits } from "../service.ts";
import type { Accepted } from "./accept.ts";
import { cutAtSilences } from "./cut.ts";
import type { Decoder } from "./decoder.ts";
import type { StoredRecording } from "./stored-recording.ts";
import { pieceHeadBytes, readPiece, readWav, type WavFile, type WavRange } from "./wav.ts";

export interface PiecesOptions {
  readonly decoder: Decoder;
  readonly limits: TranscriptionLimits;
  /** The engine's name, for people. */
  readonly title: string;
  /** AUDIO_STT_MAX_MINUTES. */
  readonly maxMinutes: number;
  /** Whose turns the decoder's runs take; "" for nobody's. */
  readonly person: string;
  readonly signal: AbortSignal;
}

/** A piece of a recording; its bytes are read when its turn comes. */
export type Piece = () => Promise<Recording>;

/** Seconds of a piece, where the engine would take longer ones: a failure costs ten minutes, and pieces run side by side. */
const pieceSeconds = 600;
/** Bytes a second that even packed silence needs; smaller recordings are short without a look. */
const leastBytesPerSecond = 50;
const megabyte = 1024 * 1024;

/**
 * A recording in pieces that the engine takes: as it is where it fits, else cut at silences. Throws `too_large`
 * beyond AUDIO_STT_MAX_MINUTES, and for what cannot be cut without ffmpeg; `invalid` for broken recordings.
 */
export async function toPieces(
  stored: StoredRecording,
  accepted: Accepted,
  options: PiecesOptions,
): Promise<Piece[]> {
  const { limits, decoder, maxMinutes, person, signal } = options;
  const wav = accepted.container === "wav" ? await readWav(stored.path) : undefined;
  const seconds = wav?.seconds ?? (await measure(stored, accepted, options));
  if (seconds !== undefined && seconds > maxMinutes * 60) {
    throw toTooLong(maxMinutes);
  }
  const isTaken = limits.containers.has(accepted.container);
  if (isTaken && stored.size <= limits.bytes && (seconds ?? 0) <= (limits.seconds ?? Infinity)) {
    const filename = `recording.${toEnding(accepted.container)}`;
    return [async () => ({ ...accepted, filename, bytes: new Uint8Array(await readFile(stored.path)) })];
  }
  if (await decoder.isThere()) {
    const path = join(stored.folder, "decoded.wav");
    const source = { path: stored.path, container: accepted.container, person, signal };
    await decoder.toWav(source, { path, seconds: maxMinutes * 60 + 1 });
    const decoded = await readWav(path);
    if (decoded === undefined || decoded.dataBytes === 0) {
      throw new AppError("invalid", "file: the recording holds no sound.");
    }
    // Lengths that heads tell may be wrong; this one was counted.
    if (decoded.seconds > maxMinutes * 60) {
      throw toTooLong(maxMinutes);
    }
    const pack = limits.containers.has("mp3") ? createPack(stored.folder, options) : undefined;
    return await cut(decoded, limits, pack);
  }
  if (wav !== undefined && limits.containers.has("wav")) {
    return await cut(wav, limits);
  }
  throw isTaken ? toTooMuch(stored, options) : toUnread(accepted, options);
}

async function measure(
  stored: StoredRecording,
  { container }: Accepted,
  { decoder, limits, maxMinutes, person, signal }: PiecesOptions,
): Promise<number | undefined> {
  const interesting = Math.min(maxMinutes * 60, limits.seconds ?? Infinity);
  return stored.size > interesting * leastBytesPerSecond && (await decoder.isThere())
    ? await decoder.measure({ path: stored.path, container, person, signal })
    : undefined;
}

/** Pieces of a WAV file, packed where a packer is given. */
async function cut(wav: WavFile, limits: TranscriptionLimits, pack?: Pack): Promise<Piece[]> {
  const seconds = Math.min(limits.seconds ?? pieceSeconds, pieceSeconds);
  const most = Math.min(limits.bytes - pieceHeadBytes, seconds * wav.bytesPerSecond);
  const ranges = await cutAtSilences(wav, most);
  return ranges.map((range) => async () => {
    const packed = await pack?.(wav, range);
    return packed === undefined
      ? {
          container: "wav",
          contentType: "audio/wav",
          filename: "recording.wav",
          bytes: await readPiece(wav, range),
        }
      : { container: "mp3", contentType: "audio/mpeg", filename: "recording.mp3", bytes: packed };
  });
}

type Pack = (wav: WavFile, range: WavRange) => Promise<Uint8Array<ArrayBuffer> | undefined>;

/** MP3 in place of WAV: two hours are 30 MB on their way to the engine, not 230. */
function createPack(folder: string, { decoder, person, signal }: PiecesOptions): Pack {
  let canPack = true;
  return async (wav, { start, end }) => {
    if (!canPack) {
      return undefined;
    }
    const target = join(folder, `${start}.mp3`);
    const toSeconds = (bytes: number) => bytes / wav.bytesPerSecond;
    const part = { path: wav.path, start: toSeconds(start - wav.dataStart), seconds: toSeconds(end - start) };
    canPack = await decoder.pack({ ...part, person, signal }, target);
    return canPack ? new Uint8Array(await readFile(target)) : undefined;
  };
}

function toTooLong(maxMinutes: number): AppError {
  return new AppError(
    "too_large",
    `Recordings may last at most ${maxMinutes} minutes here (AUDIO_STT_MAX_MINUTES).`,
  );
}

function toTooMuch({ size }: StoredRecording, { limits, title }: PiecesOptions): AppError {
  const [has, most] = [Math.ceil(size / megabyte), Math.floor(limits.bytes / megabyte)];
  return new AppError(
    "too_large",
    `The recording has ${has} MB, and ${title} takes ${most} MB at once. Longer ones are cut with ffmpeg, which this server does not have; WAV is cut without it.`,
  );
}

function toUnread({ container }: Accepted, { limits, title }: PiecesOptions): AppError {
  const known = [...limits.containers].join(", ");
  return new AppError(
    "invalid",
    `file: ${title} reads ${known}, not ${container}. Others are converted with ffmpeg, which this server does not have.`,
  );
}
