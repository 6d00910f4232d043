import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Models } from "#plugins/models/service.ts";
import type { Backend } from "../backends/backend.ts";
import type { Backends } from "../backends/backends.ts";
import { parseItems } from "../backends/fetch-list.ts";
import type { TagItem } from "../backends/available-models.ts";
import { lowest } from "../backends/version.ts";
import { providerId } from "../provider.ts";
import { Index } from "./indexed.ts";

export interface ListOptions {
  readonly backends: Backends;
  readonly models: Models;
  /** The version of a backend. */
  fetchVersion(backend: Backend): Promise<string>;
  /** A backend's own list of the models in its memory. */
  fetchLoaded(backend: Backend): Promise<unknown>;
}

const Tags = z.object({ models: z.array(z.looseObject({ name: z.string(), model: z.string() })) });
const Version = z.object({ version: z.string() });
const List = z.object({ object: z.literal("list"), data: z.array(z.looseObject({ id: z.string() })) });
const status = { access: "public", returns: z.object({ status: z.literal(true) }) } as const;

/** Lists of models, versions and models in memory (contract §2.3). */
export function listRoutes(options: ListOptions) {
  const { models } = options;
  return [
    defineRoute({ ...status, method: "GET", path: "/", summary: "Tell that the runtime is offered" }, () => ({
      status: true as const,
    })),
    defineRoute(
      { ...status, method: "HEAD", path: "/", summary: "Tell that the runtime is offered" },
      () => ({ status: true as const }),
    ),
    ...tagRoutes(options),
    ...versionRoutes(options),
    ...commonListRoutes(options, models),
    defineRoute(
      {
        method: "GET",
        path: "/api/ps",
        summary: "List the models that backends have in memory",
        access: "admin",
        returns: Tags,
      },
      async () => ({ models: await listLoaded(options) }),
    ),
  ] as const;
}

function tagRoutes({ backends, models }: ListOptions) {
  const visible = async (caller: Principal): Promise<TagItem[]> => {
    const ids = await listIds(models, caller);
    return [...backends.known().tags].filter(([id]) => ids.has(id)).map(([, item]) => item);
  };
  return [
    defineRoute(
      {
        method: "GET",
        path: "/api/tags",
        summary: "List the models of all backends",
        access: "user",
        returns: Tags,
      },
      async ({ caller }) => ({ models: await visible(caller) }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/api/tags/:idx",
        summary: "List one backend's models",
        access: "user",
        params: Index,
        returns: Tags,
        fails: [404],
      },
      async ({ caller, params: { idx } }) => {
        backends.require(idx);
        return { models: (await visible(caller)).filter(({ urls }) => urls.includes(idx)) };
      },
    ),
  ] as const;
}

function commonListRoutes({ backends }: ListOptions, models: Models) {
  const visible = async (caller: Principal) =>
    (await models.list(caller, { among: [providerId] })).filter(
      (item) => isOwn(item) && backends.known().tags.has(String(item["id"])),
    );
  return [
    defineRoute(
      {
        method: "GET",
        path: "/v1/models",
        summary: "List the models in the common format",
        access: "user",
        errors: "compat",
        returns: List,
      },
      async ({ caller }) => ({ object: "list" as const, data: await visible(caller) }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/v1/models/:idx",
        summary: "List one backend's models in the common format",
        access: "user",
        errors: "compat",
        params: Index,
        returns: List,
        fails: [404],
      },
      async ({ caller, params: { idx } }) => {
        backends.require(idx);
        const data = (await visible(caller)).filter((item) => (item["urls"] as number[]).includes(idx));
        return { object: "list" as const, data };
      },
    ),
  ] as const;
}

function versionRoutes({ backends, fetchVersion }: ListOptions) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/api/version",
        summary: "Tell the lowest version of all backends",
        access: "user",
        returns: Version,
        fails: [404, 502],
      },
      async () => {
        if (backends.usable().length === 0) {
          throw new AppError("not_found", "No backend of the runtime is set up.");
        }
        const answers = await Promise.allSettled(backends.usable().map(fetchVersion));
        const version = lowest(answers.flatMap((each) => (each.status === "fulfilled" ? [each.value] : [])));
        if (version === undefined) {
          throw new AppError("upstream", "No backend of the runtime answers.");
        }
        return { version };
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/api/version/:idx",
        summary: "Tell one backend's version",
        access: "user",
        params: Index,
        returns: Version,
        fails: [404, 502],
      },
      async ({ params: { idx } }) => ({ version: await fetchVersion(backends.require(idx)) }),
    ),
  ] as const;
}

/** Of all backends that answer; each item says where it is. */
async function listLoaded({ backends, fetchLoaded }: ListOptions) {
  const lists = backends.usable().map(async (backend) =>
    parseItems(await fetchLoaded(backend)).map(({ id, item }) => {
      const name = backend.prefix === "" ? id : `${backend.prefix}.${id}`;
      return { ...item, name, model: name, url_idx: backend.index };
    }),
  );
  const answers = await Promise.allSettled(lists);
  return answers.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
}

async function listIds(models: Models, caller: Principal): Promise<ReadonlySet<string>> {
  return new Set(
    (await models.list(caller, { among: [providerId] })).filter(isOwn).map((item) => String(item["id"])),
  );
}

function isOwn(item: Readonly<Record<string, unknown>>): boolean {
  return item["owned_by"] === "ollama" && item["preset"] !== true;
}
