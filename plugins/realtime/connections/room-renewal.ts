import type { Principal } from "#kernel/access/principal.ts";
import { reauthorizeAll } from "#kernel/access/reauthorize.ts";
import { AppError } from "#kernel/errors.ts";
import type { Slot } from "#kernel/service.ts";
import type { GuardedRooms, UserRooms } from "../service.ts";
import type { Members } from "./members.ts";
import type { Session } from "./session.ts";

/** Keeps sessions in the rooms that their people may be in, and in no others. */
export interface RoomRenewal {
  /** Enters the rooms of a session's caller, and keeps them up to date from now on. */
  follow(caller: Principal, sessionId: string): Promise<void>;
  /** Asks anew for one session, after its account, groups or permissions changed. */
  renew(session: Session): Promise<void>;
  /** Asks anew for every session of this process. */
  renewAll(): Promise<void>;
}

/** Only rooms of this kind come from `userRooms`; people enter the others by opening something. */
const followed = "channel:";

export function createRoomRenewal({
  members,
  rooms,
  guards,
}: {
  members: Members;
  rooms: Slot<UserRooms>;
  guards: Slot<GuardedRooms>;
}): RoomRenewal {
  const following = new Set<string>();
  let running: Promise<void> | undefined;
  let isStale = false;
  members.onRemoved(({ id }) => void following.delete(id));

  async function expel(session: Session, caller: Principal | undefined): Promise<void> {
    for (const room of session.rooms) {
      const [kind = "", id = ""] = room.split(":", 2);
      const guard = guards.list().find((one) => one.kind === kind);
      if (guard && !(caller !== undefined && (await guard.mayStay(caller, id)))) {
        members.leave(session, room);
        guard.expelled(session.id, id);
      }
    }
  }

  async function renew(session: Session, caller = session.principal): Promise<void> {
    await expel(session, caller);
    if (!following.has(session.id) || caller === undefined) {
      return;
    }
    const found = new Set((await Promise.all(rooms.list().map((find) => find(caller)))).flat());
    for (const room of session.rooms) {
      if (room.startsWith(followed) && !found.has(room)) {
        members.leave(session, room);
      }
    }
    for (const room of found) {
      try {
        members.enter(session, room);
      } catch (error) {
        if (!(error instanceof AppError)) {
          throw error;
        }
        // A connection in too many rooms misses events of this one; others are not affected.
      }
    }
  }

  async function renewAll(): Promise<void> {
    while (isStale) {
      isStale = false;
      await reauthorizeAll([...members.all()], (session) => renew(session));
    }
  }

  return {
    async follow(caller, sessionId) {
      const session = members.find(sessionId);
      if (session !== undefined) {
        following.add(sessionId);
        await renew(session, caller);
      }
    },
    renew,
    renewAll() {
      // Many changes at once are answered by one round that begins after the last of them.
      isStale = true;
      running ??= renewAll().finally(() => (running = undefined));
      return running;
    },
  };
}
