import * as argon2 from "@node-rs/argon2";
import * as bcrypt from "@node-rs/bcrypt";
import { AppError } from "#kernel/errors.ts";

export type PasswordAlgorithm = "bcrypt" | "argon2";

export interface PasswordOptions {
  readonly algorithm: PasswordAlgorithm;
  /** Cost of new bcrypt hashes; `productHashCost` when left out. */
  readonly hashCost?: number;
  /** The optional rule for new passwords; undefined accepts every one that is long enough. */
  rule?(): { pattern: RegExp; hint: string } | undefined;
}

/** Fewest characters of a password that somebody chooses. */
export const shortestPassword = 8;

export function isLongEnough(password: string): boolean {
  return [...password].length >= shortestPassword;
}

/** Hashes and checks passwords away from the event loop. */
export interface Passwords {
  /** Throws `invalid` when `password` may not be chosen as a new one. */
  requireAcceptable(password: string): void;
  /** Encoded hash of an acceptable password, in the configured algorithm. */
  hash(password: string): Promise<string>;
  /** Encoded hash of a random password, for accounts that sign in without one. */
  unknown(): Promise<string>;
  /** The same for accounts made in bulk: computed once, because hashing each would take longer than all else. */
  unusable(): Promise<string>;
  /** Takes as long for an account that does not exist (`hash` undefined) as for one that does. */
  verify(password: string, hash: string | undefined): Promise<boolean>;
}

// bcrypt looks at 72 bytes and ignores the rest, so that longer passwords would be weaker than they look.
const bcryptLimit = 72;

/** The bcrypt cost of the product. No variable lowers it; only the test set-up creates the plugin with another one. */
export const productHashCost = 12;

// Hashing takes threads that file and name lookups need too: few at a time, and queues that end. Whoever signs in
// waits apart from those who choose a password, so that a flood of sign-ups keeps nobody out.
const parallelChecks = 2;
const parallelHashes = 1;
const waitingLimit = 500;

/** Creates the password functions; the algorithm is that of new hashes, old ones of either kind keep verifying. */
export function createPasswords({ algorithm, hashCost = productHashCost, rule }: PasswordOptions): Passwords {
  const limitChecks = createSemaphore(parallelChecks);
  const limitHashes = createSemaphore(parallelHashes);
  let decoy: Promise<string> | undefined;

  const requireAcceptable = (password: string) => {
    if (algorithm === "bcrypt" && Buffer.byteLength(password) > bcryptLimit) {
      throw new AppError("invalid", `The password is too long: at most ${bcryptLimit} bytes are possible.`);
    }
    const active = rule?.();
    if (active !== undefined && !active.pattern.test(password)) {
      throw new AppError("invalid", active.hint);
    }
    if (!isLongEnough(password)) {
      throw new AppError("invalid", `The password must have at least ${shortestPassword} characters.`);
    }
  };
  const encode = (password: string) =>
    algorithm === "argon2" ? argon2.hash(password) : bcrypt.hash(password, hashCost);
  const hash = (password: string) => limitHashes(() => encode(password));
  /** The hash that passwords of unknown accounts are checked against: created once, outside the limits. */
  const findDecoy = async () => {
    decoy ??= encode(crypto.randomUUID());
    try {
      return await decoy;
    } catch (error) {
      decoy = undefined;
      throw error;
    }
  };

  return {
    requireAcceptable,
    hash: async (password) => {
      requireAcceptable(password);
      return await hash(password);
    },
    // The rule for chosen passwords does not apply.
    unknown: () => hash(crypto.randomUUID()),
    unusable: findDecoy,
    verify: async (password, stored) => {
      // Awaited for known accounts too, so that the time taken tells nothing.
      const spare = await findDecoy();
      const matches = await limitChecks(() => check(password, stored ?? spare));
      return matches && stored !== undefined;
    },
  };
}

async function check(password: string, encoded: string): Promise<boolean> {
  if (encoded.startsWith("$argon2")) {
    return await argon2.verify(encoded, password).catch(() => false);
  }
  const matches = await bcrypt.verify(password, encoded);
  return matches && Buffer.byteLength(password) <= bcryptLimit;
}

/** Creates a semaphore: at most `parallel` tasks run at the same time, in order. Throws `limit` when too many wait. */
function createSemaphore(parallel: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running >= parallel) {
      if (waiting.length >= waitingLimit) {
        throw new AppError(
          "rate_limited",
          "Too many people sign in or up at the moment. Try again shortly.",
          {
            retryAfter: 10,
          },
        );
      }
      // A task that ends hands its place over, so that later arrivals do not overtake.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running++;
    }
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) {
        running--;
      } else {
        next();
      }
    }
  };
}
