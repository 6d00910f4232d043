import { requireShallow } from "./bounds.ts";
import type { DocumentReader } from "./reading.ts";

/** Rich Text Format: the text with paragraphs, tabs and cells of tables; pictures, fonts and fields' codes are left out. */
export const readRtf: DocumentReader = ({ bytes }, { builder }) => {
  builder.add(rtfToText(bytes));
};

interface Group {
  /** Text in here is none of the document. */
  isHidden: boolean;
  /** Characters that stand in for a `\u` where readers do not know it. */
  fallback: number;
}

const hidden = new Set(
  (
    "fonttbl colortbl stylesheet info pict object themedata colorschememapping latentstyles datastore xmlnstbl listtable " +
    "listoverridetable rsidtbl generator header headerl headerr headerf footer footerl footerr footerf filetbl revtbl fldinst bkmkstart bkmkend"
  ).split(" "),
);

const signs = new Map([
  ["par", "\n"],
  ["line", "\n"],
  ["sect", "\n\n"],
  ["page", "\n\n"],
  ["row", "\n"],
  ["cell", " | "],
  ["tab", "\t"],
  ["emdash", "—"],
  ["endash", "–"],
  ["bullet", "•"],
  ["lquote", "‘"],
  ["rquote", "’"],
  ["ldblquote", "“"],
  ["rdblquote", "”"],
  ["emspace", " "],
  ["enspace", " "],
]);

/** Reads RTF 1.9 as far as text needs it. */
export function rtfToText(bytes: Uint8Array): string {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const token = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z'])|([{}])|[\r\n]+|([^\\{}\r\n]+)/gi;
  const groups: Group[] = [{ isHidden: false, fallback: 1 }];
  let decoder = new TextDecoder("windows-1252");
  let out = "";
  let raw: number[] = [];
  let skip = 0;
  const top = () => groups.at(-1) as Group;
  const flush = () => {
    out += raw.length > 0 ? decoder.decode(Uint8Array.from(raw)) : "";
    raw = [];
  };
  const write = (text: string) => {
    flush();
    out += top().isHidden ? "" : text;
  };
  for (let match = token.exec(source); match !== null; match = token.exec(source)) {
    const [, word, number, hex, sign, brace, text] = match;
    if (hex !== undefined) {
      if (skip > 0) {
        skip -= 1;
      } else if (!top().isHidden) {
        // Characters of two bytes come as two of these.
        raw.push(Number.parseInt(hex, 16));
      }
    } else if (brace !== undefined) {
      flush();
      skip = 0;
      if (brace === "{") {
        requireShallow(groups.length);
        groups.push({ ...top() });
      } else if (groups.length > 1) {
        groups.pop();
      }
    } else if (text !== undefined) {
      write(text.slice(skip));
      skip = Math.max(0, skip - text.length);
    } else if (sign !== undefined) {
      applySign(sign, top(), write);
    } else if (word === "u") {
      write(String.fromCharCode(((Number(number) % 65_536) + 65_536) % 65_536));
      skip = top().fallback;
    } else if (word === "bin") {
      token.lastIndex += Math.max(0, Number(number ?? 0));
    } else if (word === "ansicpg") {
      decoder = decoderOf(Number(number));
    } else if (word !== undefined) {
      applyWord(word, number, { group: top(), write });
    }
  }
  flush();
  return out
    .replace(/ \| *\n/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .toWellFormed();
}

function applySign(sign: string, group: Group, write: (text: string) => void): void {
  if (sign === "*") {
    // A destination that only newer readers know.
    group.isHidden = true;
  } else if (sign === "~" || sign === "_") {
    write(sign === "~" ? " " : "-");
  } else if ("\\{}".includes(sign)) {
    write(sign);
  } else if (sign === "\n" || sign === "\r") {
    write("\n");
  }
}

function applyWord(
  word: string,
  number: string | undefined,
  { group, write }: { group: Group; write: (text: string) => void },
): void {
  const sign = signs.get(word);
  if (sign !== undefined) {
    write(sign);
  } else if (word === "uc") {
    group.fallback = Number(number ?? 1);
  } else if (hidden.has(word)) {
    group.isHidden = true;
  } else if (word === "v") {
    group.isHidden = number !== "0";
  }
}

function decoderOf(page: number): TextDecoder {
  const label = new Map([
    [932, "shift_jis"],
    [936, "gbk"],
    [949, "euc-kr"],
    [950, "big5"],
    [10_000, "macintosh"],
    [65_001, "utf-8"],
  ]).get(page);
  try {
    return new TextDecoder(label ?? `windows-${page}`);
  } catch {
    return new TextDecoder("windows-1252");
  }
}
