import type { Principal } from "#kernel/access/principal.ts";
import { defineSlot } from "#kernel/service.ts";

/** A plugin's fields of `GET /api/config` for this caller; objects are merged into those of others. */
export type ConfigPart = (caller: Principal | undefined) => Readonly<Record<string, unknown>>;

/** Additions to the public configuration, such as the sign-in providers on offer. */
export const configParts = defineSlot<ConfigPart>("settings.config");
