import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "#kernel/log.ts";
import type { RecentError } from "#kernel/recent-errors.ts";
import type { ErrorAnswer } from "./errors.ts";
import type { AnyRoute } from "./route.ts";
import { type Surface, surfaces } from "./surfaces.ts";

interface FailedRoute {
  readonly plugin: string;
  readonly surface: Surface;
  readonly route: AnyRoute;
}

interface Failed {
  readonly id: string;
  readonly answer: ErrorAnswer;
  readonly error: unknown;
}

/** A failure as administrators find it again by the id of its request. */
export function toRecentError(
  { plugin, surface, route }: FailedRoute,
  { id, answer, error }: Failed,
): Omit<RecentError, "at"> {
  return {
    request_id: id,
    plugin,
    method: route.method,
    path: surfaces[surface].base + route.path,
    status: answer.status,
    answer: answer.body,
    cause: answer.unexpected ? String((error as Error | undefined)?.stack ?? error) : null,
  };
}

/** Writes the line of a request once it was answered. */
export function logAnswer(
  log: Logger,
  level: "debug" | "info",
  { req, res, id, started }: { req: IncomingMessage; res: ServerResponse; id: string; started: number },
): void {
  const path = (req.url ?? "").split("?", 1)[0];
  const ms = Math.round(performance.now() - started);
  log[level]({ id, method: req.method, path, status: res.statusCode, ms }, "request");
}

/** Reports an answer that does not fit what its route declares. */
export function checkAnswer(
  route: AnyRoute,
  answer: unknown,
  report: (route: AnyRoute, problem: string) => void,
): void {
  if (
    answer === null ||
    typeof answer !== "object" ||
    Object.getPrototypeOf(answer) === Object.prototype ||
    Array.isArray(answer)
  ) {
    const result = route.returns?.safeParse(answer);
    if (result && !result.success) {
      report(route, result.error.message);
    }
  }
}
