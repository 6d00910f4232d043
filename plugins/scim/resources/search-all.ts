import { AppError } from "#kernel/errors.ts";
import { urns } from "../discovery/urns.ts";
import { listGroupResources } from "./groups.ts";
import { type Parameters, readPage } from "./list-query.ts";
import type { Session } from "./session.ts";
import type { State } from "./state.ts";
import { listUserResources } from "./users.ts";

const several = { isOfSeveral: true };

interface Found {
  readonly totalResults: number;
  readonly Resources: readonly State[];
}

/**
 * One page of users, then groups (RFC 7644, 3.4.3 at the root). Attributes that a kind lacks have no value there; an order
 * by one that neither kind has is refused.
 */
export async function searchAll(session: Session, parameters: Parameters): Promise<State> {
  const { startIndex, limit } = readPage(parameters);
  const given = Object.entries(parameters).filter(([name]) => !/^(?:startindex|count)$/i.test(name));
  const ask = (first: number, count: number) => ({
    ...Object.fromEntries(given),
    startIndex: first,
    count,
  });
  const users = await attempt(() => listUserResources(session, ask(startIndex, limit), several));
  const known = users instanceof AppError ? 0 : users.totalResults;
  const taken = users instanceof AppError ? 0 : users.Resources.length;
  const first = Math.max(1, startIndex - known);
  const groups = await attempt(() => listGroupResources(session, ask(first, limit - taken), several));
  if (users instanceof AppError && groups instanceof AppError) {
    throw users;
  }
  const found = [users, groups].filter((each) => !(each instanceof AppError)) as Found[];
  const Resources = found.flatMap((each) => each.Resources);
  return {
    schemas: [urns.listResponse],
    totalResults: found.reduce((sum, each) => sum + each.totalResults, 0),
    itemsPerPage: Resources.length,
    startIndex,
    Resources,
  };
}

async function attempt(list: () => Promise<State>): Promise<Found | AppError> {
  try {
    return (await list()) as unknown as Found;
  } catch (error) {
    if (error instanceof AppError && error.reason === "invalidPath") {
      return error;
    }
    throw error;
  }
}
