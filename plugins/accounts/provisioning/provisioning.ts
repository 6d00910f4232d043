import { Announcements } from "./announcements.ts";
import { accountWork } from "./provision-accounts.ts";
import { groupWork } from "./provision-groups.ts";
import type { Provisioning } from "./service.ts";
import type { ProvisioningOptions, ProvisioningStep } from "./step.ts";

/** Creates what identity providers change accounts and groups with (contract D.26, D.27). */
export function createProvisioning(options: ProvisioningOptions): Provisioning {
  return {
    unusablePassword: () => options.passwords.unusable(),
    within(tx, { passwordHash, actor }) {
      const announcements = new Announcements(options);
      const step: ProvisioningStep = {
        tx,
        options,
        passwordHash,
        record: (entry) => options.record({ ...entry, by: null, actorName: actor }, tx),
        announcements,
      };
      return { ...accountWork(step), ...groupWork(step), announce: () => announcements.send() };
    },
  };
}
