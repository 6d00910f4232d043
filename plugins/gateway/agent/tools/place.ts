import type { Confinement } from "../../commands/confinement.ts";
import { type CommandResult, runCommand } from "../../commands/run-command.ts";
import type { ConfinedFiles } from "../../files/confined.ts";
import type { WebSearch } from "#plugins/web-search/service.ts";

/** GATEWAY_COMMAND_PATH, GATEWAY_COMMAND_NETWORK and GATEWAY_COMMAND_MEMORY (in MB). */
export interface CommandSettings {
  readonly commandPath: string;
  readonly commandNetwork: boolean;
  readonly commandMemory: number;
}

/** The place of an agent's work. */
export interface AgentPlace {
  readonly files: ConfinedFiles;
  readonly confinement: Confinement;
  readonly web: Pick<WebSearch, "load"> | undefined;
  /** Those of now. */
  settings(): CommandSettings;
}

/** Characters of a tool's output that are kept (contract §12). */
export const keptOutput = 50_000;
/** The same of a command's. */
export const keptCommandOutput = 8_000;

/** The first part of a long text, with a note of how to see the rest. */
export function shorten(text: string, advice: string): string {
  return text.length <= keptOutput
    ? text
    : `${text.slice(0, keptOutput)}\n[… ${text.length - keptOutput} characters left out. ${advice}]`;
}

export interface RunOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly keptChars: number;
}

/** Runs a program in the workspace. */
export function runIn(
  { files, confinement, settings }: AgentPlace,
  argv: readonly string[],
  options: RunOptions,
): Promise<CommandResult> {
  const { commandPath, commandNetwork, commandMemory } = settings();
  return runCommand(argv, {
    ...options,
    root: files.root,
    path: commandPath,
    hasNetwork: commandNetwork,
    memory: commandMemory * 1024 * 1024,
    confinement,
  });
}

/** A text parameter, empty when it is left out. */
export function textOf(parameters: Readonly<Record<string, unknown>>, name: string): string {
  const value = parameters[name];
  return typeof value === "string" ? value : value === undefined || value === null ? "" : String(value);
}

/** A whole number within bounds. */
export function numberOf(
  parameters: Readonly<Record<string, unknown>>,
  name: string,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
): number {
  const value = Number(parameters[name] ?? otherwise);
  return Number.isFinite(value) ? Math.min(most, Math.max(least, Math.round(value))) : otherwise;
}

export interface Parameter {
  readonly type: "string" | "integer" | "boolean";
  readonly description: string;
  readonly optional?: boolean;
}

/** The JSON Schema of a tool's parameters. */
export function schemaOf(parameters: Readonly<Record<string, Parameter>>): Record<string, unknown> {
  const entries = Object.entries(parameters);
  return {
    type: "object",
    properties: Object.fromEntries(
      entries.map(([name, { type, description }]) => [name, { type, description }]),
    ),
    required: entries.filter(([, { optional }]) => !optional).map(([name]) => name),
  };
}
