import type { ApprovalDatabase } from "./tables.ts";

/** Fate of calls that would ask, in runs of automations and programs, where nobody can be asked. */
export type UnattendedPolicy = "refuse" | "allow";

export type OwnerPolicies = ReturnType<typeof createOwnerPolicies>;

/** Choices of people for runs in their name. */
export function createOwnerPolicies(db: ApprovalDatabase) {
  return {
    async policyOf(userId: string): Promise<UnattendedPolicy> {
      const row = await db
        .selectFrom("tool_approval_owner")
        .select("unattended")
        .where("user_id", "=", userId)
        .executeTakeFirst();
      return row?.unattended ?? "refuse";
    },
    async choose(userId: string, unattended: UnattendedPolicy): Promise<void> {
      await db
        .insertInto("tool_approval_owner")
        .values({ user_id: userId, unattended })
        .onConflict((conflict) => conflict.column("user_id").doUpdateSet({ unattended }))
        .execute();
    },
  };
}
