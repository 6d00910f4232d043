import type { Container } from "./service.ts";

interface Kind {
  readonly container: Container;
  /** Media types of recordings in it; the first one stands where the client said none of them. */
  readonly types: readonly [string, ...string[]];
  /** Of file names; the first one is the usual. */
  readonly endings: readonly [string, ...string[]];
  isIt(bytes: Uint8Array): boolean;
}

const kinds: readonly Kind[] = [
  {
    container: "wav",
    types: ["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"],
    endings: ["wav"],
    isIt: (bytes) => hasText(bytes, "RIFF", 0) && hasText(bytes, "WAVE", 8),
  },
  {
    container: "avi",
    types: ["video/x-msvideo", "video/avi"],
    endings: ["avi"],
    isIt: (bytes) => hasText(bytes, "RIFF", 0) && hasText(bytes, "AVI ", 8),
  },
  {
    container: "ogg",
    types: ["audio/ogg", "video/ogg", "audio/opus", "application/ogg"],
    endings: ["ogg", "oga", "opus", "ogv"],
    isIt: (bytes) => hasText(bytes, "OggS", 0),
  },
  {
    container: "flac",
    types: ["audio/flac", "audio/x-flac"],
    endings: ["flac"],
    isIt: (bytes) => hasText(bytes, "fLaC", 0),
  },
  {
    container: "mp4",
    types: [
      "audio/mp4",
      "audio/x-m4a",
      "audio/m4a",
      "video/mp4",
      "video/quicktime",
      "audio/3gpp",
      "video/3gpp",
    ],
    endings: ["m4a", "mp4", "mov", "m4b", "3gp"],
    isIt: (bytes) => hasText(bytes, "ftyp", 4),
  },
  {
    container: "webm",
    types: ["audio/webm", "video/webm", "video/x-matroska", "audio/x-matroska"],
    endings: ["webm", "mkv", "mka"],
    isIt: (bytes) => startsWith(bytes, [0x1a, 0x45, 0xdf, 0xa3]),
  },
  {
    container: "aiff",
    types: ["audio/aiff", "audio/x-aiff"],
    endings: ["aiff", "aif"],
    isIt: (bytes) => hasText(bytes, "FORM", 0) && hasText(bytes, "AIF", 8),
  },
  {
    container: "amr",
    types: ["audio/amr", "audio/amr-wb"],
    endings: ["amr"],
    isIt: (bytes) => hasText(bytes, "#!AMR", 0),
  },
  // Both begin with a frame: eleven or twelve set bits. The layer, which AAC leaves at 0, tells them apart.
  {
    container: "aac",
    types: ["audio/aac", "audio/aacp", "audio/x-aac"],
    endings: ["aac"],
    isIt: ([first = 0, second = 0]) => first === 0xff && (second & 0xf6) === 0xf0,
  },
  {
    container: "mp3",
    types: ["audio/mpeg", "audio/mp3", "audio/mpeg3"],
    endings: ["mp3", "mpga", "mpeg"],
    isIt: (bytes) =>
      hasText(bytes, "ID3", 0) || (bytes[0] === 0xff && (bytes[1]! & 0xe0) === 0xe0 && (bytes[1]! & 6) !== 0),
  },
];

/** Bytes that are enough to know a container. */
export const containerHead = 12;

/** The container of sound or video by its first bytes; undefined for anything else: names and types are not trusted. */
export function findContainer(head: Uint8Array): Container | undefined {
  return head.length < 4 ? undefined : kinds.find(({ isIt }) => isIt(head))?.container;
}

/** The media type: the client's word where it fits the container, else the container's own. */
export function toContentType(container: Container, said = ""): string {
  const { types } = kindOf(container);
  return types.includes(said.split(";")[0]!.trim().toLowerCase()) ? said : types[0];
}

/** The usual ending of a file name, which some engines go by. */
export function toEnding(container: Container): string {
  return kindOf(container).endings[0];
}

function kindOf(container: Container): Kind {
  return kinds.find((kind) => kind.container === container) as Kind;
}

function hasText(bytes: Uint8Array, text: string, at: number): boolean {
  return Buffer.from(bytes.subarray(at, at + text.length)).toString("latin1") === text;
}

function startsWith(bytes: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, at) => bytes[at] === byte);
}
