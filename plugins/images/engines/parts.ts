import type { Egress } from "#kernel/egress/egress.ts";
import type { ImageSettings } from "../config.ts";

export interface EngineParts {
  readonly egress: Pick<Egress, "fetch">;
  readonly settings: ImageSettings;
}

/** A server with what it asks for; an edit without an address of its own goes to that of generation, with its key. */
export interface Server {
  readonly url: string;
  readonly key: string;
}

export function toServer(own: Server, other?: Server): Server {
  const { url, key } = other !== undefined && own.url === "" ? other : own;
  return { url: url.replace(/(?<!\/)\/+$/, ""), key };
}

/** Texts of an answer's list of objects. */
export function toObjects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value)
    ? value.filter((each): each is Record<string, unknown> => typeof each === "object" && each !== null)
    : [];
}

export const toSize = ({ width, height }: { readonly width: number; readonly height: number }) =>
  `${width}x${height}`;

export function toBearer(key: string): Record<string, string> {
  return key === "" ? {} : { authorization: `Bearer ${key}` };
}
