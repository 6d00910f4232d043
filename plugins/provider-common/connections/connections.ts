import type { Principal } from "#kernel/access/principal.ts";
import type { MaybePromise } from "#kernel/maybe-promise.ts";
import { createBreaker } from "#kernel/egress/breaker.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import { type EndpointState, toEndpointState } from "#kernel/upstream/endpoint-state.ts";
import { createFreshList, type FreshList } from "#kernel/upstream/fresh-list.ts";
import { createLive, forgetOthers } from "#kernel/upstream/live-endpoints.ts";
import { createUsable } from "#kernel/upstream/usable.ts";
import type { CommonConfig } from "../config.ts";
import { type Connection, toConnections } from "./connection.ts";
import { type Offers, type Target, toOffers } from "../models/offers.ts";
import type { UpstreamList } from "../models/parse-models.ts";
import { findUnlisted } from "../models/unlisted.ts";

/** The configured upstreams as they are now, with what they offer. */
export interface Connections {
  /** All of them by index, those switched off included. */
  list(): readonly Connection[];
  /** What they offer: from the last good lists, refreshed behind; `refresh` waits for every upstream. */
  offers(options?: { refresh?: boolean }): MaybePromise<Offers>;
  /** Where the calls of a model go, by its public id. */
  find(id: string): Target | undefined;
  /** Where the calls of a model go that stands in no list because it does not chat, if the caller may use it. */
  unlisted(id: string, caller: Pick<Principal, "role" | "groupIds">): Target | undefined;
  /** What `offers` would resolve to now, without asking anybody. */
  known(): Offers;
  /** Asks one connection for its list now and waits, within its time limit; never rejects. */
  refresh(index: number): Promise<void>;
  /** How each of them fares, by the last fetch; asks nobody. */
  states(): EndpointState[];
  /** Starts fetching every list; waits for nothing. */
  warmUp(): void;
}

export interface ConnectionsOptions {
  readonly config: Pick<CommonConfig, "enabled" | "baseUrls" | "apiKeys" | "configs" | "baseModelsCache">;
  fetchModels(connection: Connection): Promise<UpstreamList>;
  readonly log: Logger;
  /** Told of a connection whose list arrived before and no longer does. */
  readonly failed?: (connection: Connection, error: unknown) => void;
}

/** Follows the settings live; lists of connections that did not change are kept. */
export function createConnections(options: ConnectionsOptions): Connections {
  const lists = new Map<string, FreshList<UpstreamList>>();
  const { config, log } = options;
  const live = createLive({
    settings: () => [config.baseUrls, config.apiKeys, config.configs],
    build: () => toConnections(config.baseUrls, config.apiKeys, config.configs),
    leftOut: ({ index }, problem) => log.warn({ connection: index }, `a connection is left out: ${problem}`),
  });
  const usable = createUsable(config, live);
  let offers: Offers = toOffers([]);
  let madeOf: readonly Connection[] = [];
  let madeOfLists: readonly unknown[] = [];

  const listOf = (connection: Connection): FreshList<UpstreamList> => {
    const known = lists.get(connection.fingerprint);
    const list = known ?? createList(connection, options);
    lists.set(connection.fingerprint, list);
    return list;
  };
  /** The same object until a setting or a list changes. */
  const current = (): Offers => {
    const connections = usable();
    const known = ({ fingerprint }: Connection) => lists.get(fingerprint)?.list;
    if (connections !== madeOf || connections.some((each, at) => known(each) !== madeOfLists[at])) {
      madeOf = connections;
      madeOfLists = connections.map(known);
      offers = toOffers(connections.map((connection) => ({ connection, list: known(connection) })));
    }
    return offers;
  };

  return {
    list: live,
    offers({ refresh = false } = {}) {
      forgetOthers(lists, live());
      const waits: Promise<void>[] = [];
      for (const connection of usable()) {
        if (connection.modelIds.length === 0) {
          const wait = refresh ? listOf(connection).refresh() : listOf(connection).touch();
          if (wait !== undefined) {
            waits.push(wait);
          }
        }
      }
      return waits.length > 0 ? Promise.all(waits).then(current) : current();
    },
    known: current,
    async refresh(index) {
      const connection = usable().find((each) => each.index === index);
      if (connection && connection.modelIds.length === 0) {
        await listOf(connection).refresh();
      }
    },
    states: () => {
      const { targets } = current();
      return live().map((connection) => {
        const list = lists.get(connection.fingerprint);
        return toEndpointState({
          endpoint: connection,
          isKindEnabled: config.enabled,
          health: list?.health,
          models: [...targets].flatMap(([id, target]) =>
            target.connection.index === connection.index ? [id] : [],
          ),
          runsPipelines: list?.list?.runsPipelines ?? false,
          isNeverListed: connection.modelIds.length > 0,
        });
      });
    },
    find: (id) => current().targets.get(id),
    unlisted: (id, caller) => (current().targets.has(id) ? undefined : findUnlisted(usable(), id, caller)),
    warmUp() {
      for (const connection of usable()) {
        if (connection.modelIds.length === 0) {
          void listOf(connection).touch();
        }
      }
    },
  };
}

function createList(
  connection: Connection,
  { config, fetchModels, log, failed }: ConnectionsOptions,
): FreshList<UpstreamList> {
  const now = () => performance.now();
  return createFreshList({
    fetch: () => fetchModels(connection),
    breaker: createBreaker({ threshold: 2, firstPause: 2000, longestPause: 15_000, now }),
    isTimeout: (error) => error instanceof AppError && error.code === "timeout",
    staysFresh: () => config.baseModelsCache,
    now,
    turned(error) {
      if (error === undefined) {
        log.info({ connection: connection.index }, "a connection lists its models again");
      } else {
        log.warn(
          { connection: connection.index, err: error },
          "a connection does not list its models; the last good list is served",
        );
        failed?.(connection, error);
      }
    },
  });
}
