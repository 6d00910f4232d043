import { AppError } from "#kernel/errors.ts";
import { requireRow } from "../require-row.ts";
import { type StatusFields, toStatus } from "../users/user-records.ts";
import type { StatusUpdate } from "../users/user-schema.ts";
import { findUser, updateUser, type UserChanges } from "../users/users-store.ts";
import type { AccountsDatabase } from "../tables.ts";

export interface UserStatusOptions {
  readonly db: AccountsDatabase;
  /** ENABLE_USER_STATUS. */
  isOn(): boolean;
  emit(event: string, data: Record<string, unknown>): void;
}

/** The status that an account shows. */
export interface UserStatus {
  /** Throws `forbidden` while the setting is off. */
  read(userId: string): Promise<StatusFields>;
  /** Fields that are left out keep their value, null clears one. Throws `forbidden` while the setting is off. */
  update(userId: string, changes: StatusUpdate): Promise<StatusFields>;
}

/** Creates the status logic (configuration document: both routes answer 403 while User Status is off). */
export function createUserStatus({ db, isOn, emit }: UserStatusOptions): UserStatus {
  const requireOn = () => {
    if (!isOn()) {
      throw new AppError("forbidden", "The user status is switched off.");
    }
  };
  return {
    async read(userId) {
      requireOn();
      return toStatus(requireRow(await findUser(db, userId)));
    },
    async update(userId, changes) {
      requireOn();
      const row = requireRow(await updateUser(db, userId, toColumns(changes)));
      emit("user.status_updated", { user_id: userId });
      return toStatus(row);
    },
  };
}

function toColumns({
  status_emoji: emoji,
  status_message: message,
  status_expires_at: expires,
}: StatusUpdate): UserChanges {
  return {
    ...(emoji !== undefined && { status_emoji: emoji }),
    ...(message !== undefined && { status_message: message }),
    ...(expires !== undefined && { status_expires_at: expires }),
  };
}
