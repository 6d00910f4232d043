import type { Environment } from "#config/variable.ts";
import { createLogger, type Logger, redactText } from "./log.ts";

/** Output of the program beside its log: lines for people, or with LOG_FORMAT=json one JSON object a line. */
export interface ProgramOutput {
  /** `fields` are for programs; the text holds them already. */
  say(text: string, fields?: Record<string, unknown>): void;
  /** Tells in one sentence why the process ends. The stack is shown at GLOBAL_LOG_LEVEL=DEBUG alone. */
  fail(sentence: string, error: unknown): void;
  /** Tells of a fault in a process that served, with its stack. */
  crash(error: unknown): void;
}

/** Reads the two variables by itself: a start may fail before settings are read. */
export function createProgramOutput(environment: Environment): ProgramOutput {
  const isVerbose = /^\s*(debug|trace)\s*$/i.test(environment["GLOBAL_LOG_LEVEL"] ?? "");
  const isJson = /^\s*json\s*$/i.test(environment["LOG_FORMAT"] ?? "");
  return isJson ? jsonOutput(isVerbose) : plainOutput(isVerbose);
}

const crashed = "Millrace ended by a fault that nothing caught";

function plainOutput(isVerbose: boolean): ProgramOutput {
  const write = (text: string) => void process.stderr.write(redactText(text));
  return {
    say: (text) => void process.stdout.write(`${text}\n`),
    fail: (sentence, error) => write(`\n${sentence}\n${isVerbose ? `${toStack(error)}\n` : ""}`),
    crash: (error) => write(`\n${crashed}:\n${toStack(error)}\n`),
  };
}

function jsonOutput(isVerbose: boolean): ProgramOutput {
  const log = createLogger({ level: "INFO", format: "json" });
  passWarnings(log);
  return {
    say: (text, fields) => log.info(fields ?? {}, text.replace(/ …$/, "").trim()),
    fail: (sentence, error) => log.fatal(isVerbose ? { err: error } : {}, sentence),
    crash: (error) => log.fatal({ err: error }, crashed),
  };
}

/** Node would print them as plain lines. */
function passWarnings(log: Logger): void {
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => log.warn({ kind: name }, message));
}

function toStack(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by ${toStack(error.cause)}`;
}
