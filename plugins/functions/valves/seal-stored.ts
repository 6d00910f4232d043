import { isSealed } from "#kernel/seal.ts";
import type { KeptValves } from "#plugins/accounts/service.ts";
import { listFunctions, updateValves } from "../library/function-store.ts";
import type { FunctionsDatabase } from "../tables.ts";
import { toUserPlace } from "./user-valves.ts";
import { toValvePlace, type ValveVault } from "./valve-vault.ts";

export interface SealStoredParts {
  readonly db: FunctionsDatabase;
  readonly vault: ValveVault;
  readonly kept: KeptValves;
}

/** Encrypts what was saved in clear before ENABLE_VALVE_ENCRYPTION was switched on. Repeating it changes nothing. */
export async function sealStored({ db, vault, kept }: SealStoredParts): Promise<void> {
  for (const { id, valves } of await listFunctions(db)) {
    if (isPlain(valves)) {
      await updateValves(db, id, vault.close(valves, toValvePlace(id)));
    }
  }
  for (const userId of await kept.owners("functions")) {
    for (const [id, valves] of Object.entries(await kept.read(userId, "functions"))) {
      if (isPlain(valves)) {
        const place = { section: "functions", id } as const;
        await kept.write(userId, place, vault.close(valves, toUserPlace(userId, id)));
      }
    }
  }
}

function isPlain(valves: unknown): valves is Readonly<Record<string, unknown>> {
  return typeof valves === "object" && valves !== null && !isSealed(valves) && Object.keys(valves).length > 0;
}
