import type { Api } from "#plugins/catalogue.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";

export type FunctionItem = Api["GET /api/v1/functions/list"]["answer"][number];
export type FunctionRecord = Api["GET /api/v1/functions/id/:id"]["answer"];
export type FunctionVersion = Api["GET /api/v1/functions/id/:id/versions"]["answer"][number];
export type FunctionCheck = Api["POST /api/v1/functions/check"]["answer"];
export type DryRun = Api["POST /api/v1/functions/dry-run"]["answer"];
export type Sample = Api["GET /api/v1/functions/id/:id/samples"]["answer"][number];
/** A sample that is about to be pinned. */
export interface NewSample {
  readonly name: string;
  readonly hook: Hook;
  readonly body: unknown;
  readonly expected: unknown;
  readonly valves?: Record<string, unknown>;
  readonly user_valves: Record<string, unknown>;
  readonly metadata?: Record<string, unknown>;
}
export type SampleRun = Api["POST /api/v1/functions/id/:id/samples/run"]["answer"][number];
export type Hook = Sample["hook"];

export const listPath = "/workspace/functions";
export const newPath = "/workspace/new-function";
export const toPath = (id: string): string => `/workspace/function/${encodeURIComponent(id)}`;

/** What kind of function it is, in a word. */
export function typeName(type: string | null): string {
  switch (type) {
    case "pipe":
      return t("Pipe");
    case "filter":
      return t("Filter");
    case "action":
      return t("Action");
    case "event":
      return t("Event");
    default:
      return t("No type yet");
  }
}

/** One sentence on what this type does. */
export function typeText(type: string | null): string {
  switch (type) {
    case "pipe":
      return t("Answers as a model.");
    case "filter":
      return t("Changes requests and answers.");
    case "action":
      return t("A button below messages.");
    case "event":
      return t("Hears what happens on the platform.");
    default:
      return t("Export pipe, inlet, stream, outlet, action or event.");
  }
}

/** The priority that the code declares; saved valves may say another. */
export function priorityOf(item: Pick<FunctionItem, "meta">): number {
  const manifest = item.meta["manifest"] as Readonly<Record<string, unknown>> | undefined;
  const priority = Number(manifest?.["priority"] ?? 0);
  return Number.isFinite(priority) ? priority : 0;
}
