import type { Accounts } from "#plugins/accounts/service.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool, type ToolContext, type ToolSource } from "#kernel/tools/tool.ts";
import { isTimeZone, moveMoment, type Offset, toMoment, units } from "./moments.ts";

export interface TimeParts {
  readonly accounts: Pick<Accounts, "templateFacts">;
  now?(): number;
}

const category = "time";

const timeZone = {
  type: "string",
  description: "IANA time zone such as Europe/Berlin; left out, the user's own",
};

const offsets = Object.fromEntries(
  units.map((unit) => [
    `${unit}_ago`,
    { type: "integer", description: `${unit} before now; negative for the future`, default: 0 },
  ]),
);

/** Tools that tell the time where the person is (contract §3.6, category `time`). */
export function createTimeTools({ accounts, now = Date.now }: TimeParts): ToolSource {
  const ids = ["time-tools.get_current_timestamp", "time-tools.calculate_timestamp"] as const;
  return {
    id: "time-tools",
    granted: async ({ toolIds }) => toolIds.filter((id) => (ids as readonly string[]).includes(id)),
    async select({ run }) {
      const zoneOf = (asked: unknown, { principal }: ToolContext) =>
        findZone(asked, { request: run?.request, profile: () => accounts.templateFacts(principal) });
      return [currentTool(ids[0], { now, zoneOf }), calculateTool(ids[1], { now, zoneOf })];
    },
  };
}

interface Clock {
  now(): number;
  zoneOf(asked: unknown, context: ToolContext): Promise<string>;
}

function currentTool(id: string, { now, zoneOf }: Clock): Tool {
  return defineTool({
    id,
    category,
    isParallel: true,
    title: "Look at the clock",
    spec: {
      name: "get_current_timestamp",
      description: "Tells the current date and time in the user's time zone, and as a Unix timestamp.",
      parameters: { type: "object", properties: { timezone: timeZone }, required: [] },
    },
    async run(parameters, context) {
      const zone = await zoneOf(parameters["timezone"], context);
      const { timestamp, iso, weekday } = toMoment(now(), zone);
      return { current_timestamp: timestamp, current_iso: iso, weekday, timezone: zone };
    },
  });
}

function calculateTool(id: string, { now, zoneOf }: Clock): Tool {
  return defineTool({
    id,
    category,
    isParallel: true,
    title: "Count from today",
    spec: {
      name: "calculate_timestamp",
      description:
        "Tells the date and time that lies a while before now (or after, with negative numbers), such as for ranges of a search. Days, weeks, months and years keep the time of day in the user's time zone.",
      parameters: { type: "object", properties: { ...offsets, timezone: timeZone }, required: [] },
    },
    async run(parameters, context) {
      const zone = await zoneOf(parameters["timezone"], context);
      const at = now();
      const [current, moved] = [
        toMoment(at, zone),
        toMoment(moveMoment(at, zone, readOffset(parameters)), zone),
      ];
      return {
        current_timestamp: current.timestamp,
        current_iso: current.iso,
        calculated_timestamp: moved.timestamp,
        calculated_iso: moved.iso,
        weekday: moved.weekday,
        timezone: zone,
      };
    },
  });
}

/** More than this of anything is no date that people speak of. */
const maxOffset = 1_000_000;

function readOffset(parameters: Readonly<Record<string, unknown>>): Offset {
  return Object.fromEntries(
    units.map((unit) => {
      const name = `${unit}_ago`;
      const value = Number(parameters[name] ?? 0);
      if (!Number.isInteger(value) || Math.abs(value) > maxOffset) {
        throw new AppError("invalid", `${name}: is no whole number between -${maxOffset} and ${maxOffset}.`);
      }
      return [unit, -value];
    }),
  );
}

interface ZoneFacts {
  readonly request: CompletionRequest | undefined;
  profile(): Promise<{ readonly timeZone: string }>;
}

/** The zone that the model asks for, else that of the browser which sent the request, else the account's. */
async function findZone(asked: unknown, { request, profile }: ZoneFacts): Promise<string> {
  if (asked !== undefined && asked !== null && asked !== "") {
    if (!isTimeZone(asked)) {
      throw new AppError("invalid", "timezone: is no IANA time zone such as Europe/Berlin.");
    }
    return asked;
  }
  const variables = (request?.["variables"] ?? {}) as Readonly<Record<string, unknown>>;
  const sent = variables["{{CURRENT_TIMEZONE}}"];
  return isTimeZone(sent) ? sent : (await profile()).timeZone;
}
