import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";

const password = "Correct-horse-1";

/** Signs in `count` times, each time as if from elsewhere; resolves to the statuses. */
async function guess(
  app: App,
  count: number,
  toForm: (at: number) => { email: string; password: string },
): Promise<number[]> {
  const statuses: number[] = [];
  for (let at = 0; at < count; at++) {
    const headers = {
      "x-forwarded-for": `203.0.113.${at}`,
      "x-real-ip": `203.0.113.${at}`,
      forwarded: `for=203.0.113.${at}`,
      "cf-connecting-ip": `203.0.113.${at}`,
    };
    statuses.push((await app.call("POST /api/v1/auths/signin", { body: toForm(at), headers })).status);
  }
  return statuses;
}

describe("guessing a password while every forwarder is trusted, which is the default", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app?.close());

  it("ends for one account wherever the tries claim to come from, in any spelling", async () => {
    const { email } = await app.user();
    const spellings = [email, email.toUpperCase(), ` ${email}`, `${email}\t`, email.replace("p", "P")];
    const statuses = await guess(app, 20, (at) => ({
      email: spellings[at % spellings.length] as string,
      password: `wrong-${at}`,
    }));
    expect(statuses).toEqual([
      ...Array.from({ length: 15 }, () => 400),
      ...Array.from({ length: 5 }, () => 429),
    ]);
    expect(await guess(app, 1, () => ({ email, password }))).toEqual([429]);
  });

  it("is counted when the tries come all at once", async () => {
    const { email } = await app.user();
    const tries = Array.from({ length: 40 }, (_, at) =>
      guess(app, 1, () => ({ email, password: `wrong-${at}` })),
    );
    const statuses = (await Promise.all(tries)).flat();
    const counted = statuses.filter((status) => status !== 429);
    expect(counted.length).toBeGreaterThan(0);
    expect(counted.length).toBeLessThanOrEqual(15);
  });

  it("says the same of an account that exists, one that does not, and one that cannot sign in", async () => {
    const { email } = await app.user();
    const say = async (address: string) => {
      const { status, text } = await app.call("POST /api/v1/auths/signin", {
        body: { email: address, password: "wrong" },
      });
      return [status, text];
    };
    expect(await say(email)).toEqual(await say("nobody-at-all@example.test"));
    expect((await say(email))[0]).toBe(400);
  });

  it.each(["", " ", "\u0000", "a".repeat(4_096)])("does not take %j for a password", async (wrong) => {
    const { email } = await app.user();
    expect((await app.call("POST /api/v1/auths/signin", { body: { email, password: wrong } })).status).toBe(
      400,
    );
  });

  it("does not take a pattern, an object or a list for an address", async () => {
    await app.user();
    for (const email of ["%", "person1@%", "' or '1'='1", { $ne: null }, ["person1@example.test"], null]) {
      const { status } = await app.call("POST /api/v1/auths/signin", { body: { email, password } });
      expect([400, 422]).toContain(status);
    }
  });
});

describe("guessing while the forwarders are named", () => {
  it("ends for one sender, whatever it claims about itself and whomever it tries", async () => {
    const app = await startApp({ env: { FORWARDED_ALLOW_IPS: "10.0.0.0/8" } });
    try {
      await app.admin();
      const people = (at: number) => ({ email: `person-${at}@example.test`, password: "wrong" });
      const first = await guess(app, 1, people);
      await app.running.database.query(
        "update sign_in_throttle set tries = array_fill(tries[1], array[299]) where subject like 'address:%'",
      );
      const statuses = [...first, ...(await guess(app, 3, people))];
      expect(statuses).toEqual([400, 400, 429, 429]);
    } finally {
      await app.close();
    }
  });
});

describe("first sign-ups", () => {
  it("of fifty people at once make one administrator", { timeout: 120_000 }, async () => {
    const app = await startApp();
    try {
      const tries = Array.from({ length: 50 }, (_, at) =>
        app.call("POST /api/v1/auths/signup", {
          body: { name: `P${at}`, email: `p${at}@example.test`, password, role: "admin" },
        }),
      );
      const answers = await Promise.all(tries);
      const roles = answers.filter(({ status }) => status === 200).map(({ body }) => body.role as string);
      expect(roles.filter((role) => role === "admin")).toHaveLength(1);
      expect(answers.every(({ status }) => [200, 429].includes(status))).toBe(true);
      const { rows } = await app.running.database.query(
        "select count(*)::int as admins from \"user\" where role = 'admin'",
      );
      expect(rows[0].admins).toBe(1);
    } finally {
      await app.close();
    }
  });
});
