import { isSealed } from "#kernel/seal.ts";
import type { KeptValves } from "#plugins/accounts/service.ts";
import { toUserPlace, type ValveSection } from "./user-valves.ts";
import type { ValveVault } from "./valve-vault.ts";

export interface SealStoredParts {
  readonly section: ValveSection;
  list(): Promise<readonly { readonly id: string; readonly valves: unknown }[]>;
  save(id: string, sealed: unknown): Promise<void>;
  /** Where the valves of a row are kept. */
  place(id: string): string;
  readonly vault: ValveVault;
  readonly kept: KeptValves;
}

/** Encrypts what was saved in clear before ENABLE_VALVE_ENCRYPTION was switched on. Repeating it changes nothing. */
export async function sealStored({ section, vault, kept, ...rows }: SealStoredParts): Promise<void> {
  for (const { id, valves } of await rows.list()) {
    if (isPlain(valves)) {
      await rows.save(id, vault.close(valves, rows.place(id)));
    }
  }
  for (const userId of await kept.owners(section)) {
    for (const [id, valves] of Object.entries(await kept.read(userId, section))) {
      if (isPlain(valves)) {
        const place = { section, id };
        await kept.write(userId, place, vault.close(valves, toUserPlace(userId, place)));
      }
    }
  }
}

function isPlain(valves: unknown): valves is Readonly<Record<string, unknown>> {
  return typeof valves === "object" && valves !== null && !isSealed(valves) && Object.keys(valves).length > 0;
}
