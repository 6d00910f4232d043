import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Job } from "#kernel/jobs.ts";
import type { Loader } from "#kernel/access/resource.ts";
import { seconds } from "#storage/clock.ts";
import { maskUrl, requireUrl } from "../mask-url.ts";
import type { NotificationParts } from "../parts.ts";
import { limits, type NewPushSubscription } from "../schema.ts";
import type { NotificationDatabase, PushSubscriptionRow } from "../tables.ts";

export const pushJob = "notifications.push";
/** Seconds that a push service keeps what it cannot hand over. */
const keptSeconds = 86_400;
const answerMs = 15_000;
const retries = 4;
const vapidId = "vapid";
const keyPlace = "push-key:vapid";
const keysPlace = (id: string) => `push-subscription:${id}:keys`;

/** The payload for the service worker (push/worker.js). */
export interface PushMessage {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly path: string | null;
}

export interface PushParts extends Pick<NotificationParts, "db" | "access" | "egress" | "jobs" | "seal"> {
  /** `https:` or `mailto:` address that push services write to when something is wrong (RFC 8292). */
  contact(): string;
}

interface Shared extends PushParts {
  readonly subscriptions: Loader<PushSubscriptionRow>;
}

interface Queued {
  readonly subscription_id: string;
  readonly message: PushMessage;
}

export type Push = ReturnType<typeof createPush>;

/**
 * Web push: encryption and VAPID by `web-push` (RFC 8291, 8292), sent by the platform's own client, so that a browser's
 * made-up endpoint reaches no private address.
 */
export function createPush(parts: PushParts) {
  const { db } = parts;
  const shared: Shared = {
    ...parts,
    subscriptions: parts.access.loader<PushSubscriptionRow>({
      type: "push_subscription",
      find: (id) => db.selectFrom("push_subscription").selectAll().where("id", "=", id).executeTakeFirst(),
      ownerOf: (row) => row.user_id,
      adminPasses: false,
    }),
  };
  return { ...subscriptionsOf(shared), ...sendingOf(shared) };
}

function subscriptionsOf(shared: Shared) {
  const { db, seal, subscriptions } = shared;
  const listRows = (userId: string) =>
    db
      .selectFrom("push_subscription")
      .selectAll()
      .where("user_id", "=", userId)
      .orderBy("created_at")
      .orderBy("id")
      .execute();
  return {
    async state(caller: Principal) {
      const rows = await listRows(caller.userId);
      return {
        public_key: (await vapidKeys(shared)).publicKey,
        subscriptions: rows.map(({ id, name, endpoint, created_at }) => ({
          id,
          name,
          endpoint: maskUrl(endpoint),
          created_at,
        })),
      };
    },

    /** Adds a browser; one that is known already moves to the person who is signed in there now. */
    async subscribe(caller: Principal, { name, endpoint, keys }: NewPushSubscription) {
      const url = requireUrl("endpoint", endpoint);
      if ((await listRows(caller.userId)).length >= limits.subscriptions) {
        throw new AppError(
          "invalid",
          `You have ${limits.subscriptions} browsers, the most there may be. Remove one first.`,
        );
      }
      const id = randomUUID();
      await db.deleteFrom("push_subscription").where("endpoint", "=", url).execute();
      const row = await db
        .insertInto("push_subscription")
        .values({
          id,
          user_id: caller.userId,
          name,
          endpoint: url,
          sealed_keys: seal.seal(keys, keysPlace(id)),
          created_at: seconds(),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return { id, name: row.name, endpoint: maskUrl(url), created_at: row.created_at };
    },

    async unsubscribe(caller: Principal, id: string): Promise<true> {
      await subscriptions.load(caller, id, "write");
      await db.deleteFrom("push_subscription").where("id", "=", id).execute();
      return true;
    },
  };
}

function sendingOf(shared: Shared) {
  const { db, jobs } = shared;
  return {
    /** Queues a message for every browser of a person; resolves to how many there are. */
    async send(userId: string, message: PushMessage): Promise<number> {
      const rows = await db
        .selectFrom("push_subscription")
        .select("id")
        .where("user_id", "=", userId)
        .execute();
      for (const { id } of rows) {
        await jobs.enqueue(pushJob, { subscription_id: id, message } satisfies Queued);
      }
      return rows.length;
    },

    job: {
      id: pushJob,
      title: "Sends push notifications to browsers",
      retries,
      expiresIn: 60,
      concurrency: 4,
      run: (data, { signal }) => pushOne(shared, data as unknown as Queued, signal),
    } satisfies Job,
  };
}

/** Hands one message to the push service of one browser; forgets a browser that is gone. */
async function pushOne(shared: Shared, { subscription_id: id, message }: Queued, signal: AbortSignal) {
  const { db, egress, seal } = shared;
  const row = await db.selectFrom("push_subscription").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) {
    return;
  }
  const keys = seal.open(row.sealed_keys, keysPlace(id)) as { p256dh: string; auth: string };
  const webPush = await loadWebPush();
  const request = webPush.generateRequestDetails({ endpoint: row.endpoint, keys }, JSON.stringify(message), {
    vapidDetails: { subject: shared.contact(), ...(await vapidKeys(shared)) },
    TTL: keptSeconds,
    contentEncoding: "aes128gcm",
  });
  const answer = await egress.fetch(request.endpoint, {
    trust: "user",
    method: request.method,
    headers: Object.entries(request.headers)
      // The client counts the bytes itself.
      .filter(([name]) => name.toLowerCase() !== "content-length")
      .map(([name, value]): [string, string] => [name, String(value)]),
    body: request.body && new Uint8Array(request.body),
    signal,
    timeoutMs: answerMs,
    redirects: false,
  });
  await answer.body?.cancel();
  if (answer.status === 404 || answer.status === 410) {
    await db.deleteFrom("push_subscription").where("id", "=", id).execute();
  } else if (answer.status === 429 || answer.status >= 500) {
    throw new Error(`a push service answered ${answer.status}`);
  }
}

/** The key pair of this installation, made at the first use; of replicas that make one at once the first counts. */
async function vapidKeys({ db, seal }: Pick<PushParts, "db" | "seal">) {
  const known = await findKeys(db);
  if (known === undefined) {
    const made = (await loadWebPush()).generateVAPIDKeys();
    await db
      .insertInto("push_key")
      .values({
        id: vapidId,
        public_key: made.publicKey,
        sealed_private_key: seal.seal(made.privateKey, keyPlace),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const row = known ?? (await findKeys(db));
  if (row === undefined) {
    throw new AppError("unavailable", "The key for web push could not be stored.");
  }
  return { publicKey: row.public_key, privateKey: String(seal.open(row.sealed_private_key, keyPlace)) };
}

/** Imports the library at its first use: most starts send no push message. */
const loadWebPush = async () => (await import("web-push")).default;

const findKeys = (db: NotificationDatabase) =>
  db.selectFrom("push_key").selectAll().where("id", "=", vapidId).executeTakeFirst();
