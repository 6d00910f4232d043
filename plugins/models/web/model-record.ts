import type { Grant } from "#plugins/web/kit/access/grants.ts";
import { server } from "#plugins/web/kit/server.ts";

/** A saved model as the server answers it to those who may change it. */
export type ModelRecord = Awaited<ReturnType<typeof readModel>>;

/** A model of a provider, which saved models stand on. */
export interface BaseModel {
  readonly id: string;
  readonly name: string;
  /** Grants of its connection, for administrators. */
  readonly grants: readonly Grant[];
}

export const readModel = async (id: string) =>
  await server.call("GET /api/v1/models/model", { query: { id } });

/** The record of a model; undefined where nobody saved one. */
export async function findModel(id: string): Promise<ModelRecord | undefined> {
  return (await server.find("GET /api/v1/models/model", { query: { id } })) ?? undefined;
}

/** The models that the caller can build on: their own view of the list, and for administrators all of the providers. */
export async function readBases(isAdmin: boolean): Promise<readonly BaseModel[]> {
  const { data } = isAdmin ? await server.call("GET /api/models/base") : await server.call("GET /api/models");
  return (
    (data as readonly Record<string, unknown>[])
      .filter((item) => item["preset"] !== true && item["arena"] !== true)
      // The platform's own guide is no language model: it is what few build on.
      .toSorted((a, b) => Number(a["owned_by"] === "millrace") - Number(b["owned_by"] === "millrace"))
      .map((item) => ({
        id: String(item["id"]),
        name: String(item["name"] ?? item["id"]),
        grants: (item["access_grants"] ?? []) as readonly Grant[],
      }))
  );
}

export const grantsOf = (record: ModelRecord | undefined): readonly Grant[] =>
  (record?.access_grants ?? []) as unknown as readonly Grant[];
