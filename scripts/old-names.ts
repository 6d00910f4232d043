import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { listFiles } from "./hygiene.ts";

/** Identifiers that stood for a standard term, by the word that is used now. */
const identifiers: Readonly<Record<string, string>> = {
  Departures: "BatchScheduler",
  Fare: "Sized",
  Switchboard: "StreamMultiplexer",
  Passenger: "BatchListener",
  enterAll: "callBatch",
  QuickLane: "InlineExecutor",
  afresh: "fallBackToThread",
  Tries: "InlinePolicy",
  debt: "penalty",
  quickAmends: "successesToForgive",
  Spares: "WarmIsolates",
  Way: "bridgeFunctions",
  lookUp: "the name of what is found",
  toOutcome: "parseResult",
  toEndings: "parseResult",
  Later: "LazyMembers",
  leaveTogether: "endBatched",
  writePiece: "writeHttpChunk",
  Hold: "DeltaBatcher",
  LineTail: "LineBuffer",
  WholeLines: "LineSplitter",
  AtOnce: "MaybePromise",
  whenThere: "mapMaybe",
  toSoundChunk: "normalizeChunk",
  fromWhole: "streamCompletion",
  toWhole: "collectCompletion",
  UsageTail: "UsageScanner",
  Around: "ChunkTemplate",
  CrossingBatches: "StreamBatchCodec",
  withJson: "a field that carries the text beside the value",
  Pieces: "SegmentedBody",
  readAtOnce: "useSharedReadBuffer",
  judgeAgain: "reauthorize",
  judgeAll: "reauthorizeAll",
  Entrance: "Handshake",
  createAsking: "createRpc",
  createLent: "createRemoteChannels",
  eased: "whenWritable",
  hear: "observe",
  doubt: "markUncertain",
  areNone: "isAlone",
  urgently: "withReservedConnection",
  patiently: "withoutStatementTimeout",
  signInVouched: "the sign-in by a trusted header",
  tellOfSelf: "announceSystemEvent",
  Growth: "OutputDiff",
  Placed: "InsertedReplies",
  untold: "seqGap",
  Happening: "ChatEventDetails",
  conclude: "finish",
  hurry: "writeNow",
};

/** Files that are named after what they export by now. */
const files: ReadonlySet<string> = new Set(
  [
    "together.js switch.js quick.ts tries.ts spares.ts booted.ts copied-lists.ts loose-answer.ts known-json.ts",
    "growth.ts leftovers.ts asked.ts placing.ts owner.ts tails.ts kept-texts.ts climb.ts mend.ts found.ts",
    "peers.ts silence.ts urgency.ts patience.ts rejudge.ts ownerless.ts vouched-sign-in.ts assemble.ts leave-together.ts whole-lines.ts",
  ].flatMap((names) => names.split(" ")),
);

/** Codes of errors that say what they are by now. */
const codes = /\bAppError\(\s*"(method|slow|limit)"/g;

const code = /\.(ts|mjs|js)$/;
// Left to right, so that a quote in a comment begins no text and a slash in a text no comment.
const prose = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;
const old = new RegExp(`\\b(?:${Object.keys(identifiers).join("|")})\\b`, "g");

/** Names that were replaced by standard terms: in code, not in comments and texts, and as names of files. */
export async function findOldNames(place: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of await listFiles(place)) {
    if (!code.test(path) || path === "scripts/old-names.ts") {
      continue;
    }
    if (files.has(basename(path).replace(/\.(?:http\.)?test\.ts$/, ".ts"))) {
      found.push(`${path} has an old name`);
    }
    const text = await readFile(join(place, path), "utf8");
    const names = new Set(text.replaceAll(prose, "").match(old));
    found.push(...[...names].map((name) => `${path} calls something ${name}: ${identifiers[name]}`));
    found.push(...[...text.matchAll(codes)].map(([, name]) => `${path} throws an error of the code ${name}`));
  }
  return found;
}
