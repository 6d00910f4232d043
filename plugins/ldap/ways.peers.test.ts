import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp } from "#test/support/app.ts";
import { people, signIn, toEnv } from "./people.fixture.ts";
import { hasSlapd, startDirectory, type TestDirectory } from "./slapd.fixture.ts";

let directory: TestDirectory;

describe.skipIf(!hasSlapd)("the way to a directory (needs slapd)", () => {
  beforeAll(async () => {
    directory = await startDirectory(people);
  });
  afterAll(() => directory?.close());

  const ways: Record<string, (place: TestDirectory) => Record<string, string>> = {
    StartTLS: ({ caFile }) => ({
      LDAP_USE_TLS: "true",
      LDAP_TLS_METHOD: "starttls",
      LDAP_CA_CERT_FILE: caFile,
    }),
    LDAPS: ({ caFile, securePort }) => ({
      LDAP_USE_TLS: "true",
      LDAP_SERVER_PORT: String(securePort),
      LDAP_CA_CERT_FILE: caFile,
    }),
    "an unknown certificate that nobody checks": ({ securePort }) => ({
      LDAP_USE_TLS: "true",
      LDAP_SERVER_PORT: String(securePort),
      LDAP_VALIDATE_CERT: "false",
    }),
    "the second host": () => ({ LDAP_SERVER_HOST: "127.0.0.9, localhost" }),
  };

  it.each(Object.entries(ways))("leads by %s", async (_name, way) => {
    const env = toEnv(directory, { LDAP_SERVER_HOST: "localhost", ...way(directory) });
    const one = await startApp({ env });
    try {
      expect((await signIn(one, "bea", "bea-password")).status).toBe(200);
    } finally {
      await one.close();
    }
  });

  const faults: Record<string, { env: (place: TestDirectory) => Record<string, string>; reason: RegExp }> = {
    "an unknown certificate": {
      env: ({ securePort }) => ({ LDAP_USE_TLS: "true", LDAP_SERVER_PORT: String(securePort) }),
      reason: /certificate/i,
    },
    "a wrong password of the platform": {
      env: () => ({ LDAP_APP_PASSWORD: "wrong" }),
      reason: /LDAP_APP_DN/,
    },
    "no directory": { env: () => ({ LDAP_SERVER_PORT: "9" }), reason: /127\.0\.0\.1:9|localhost:9/ },
    "a filter that is none": {
      env: () => ({ LDAP_SEARCH_FILTERS: "(uid=)()" }),
      reason: /./,
    },
  };

  it.each(Object.entries(faults))(
    "ends at %s: people hear little, administrators why",
    async (_name, { env, reason }) => {
      const one = await startApp({
        env: toEnv(directory, { LDAP_SERVER_HOST: "localhost", ...env(directory) }),
      });
      try {
        const boss = await one.admin();
        const answer = await signIn(one, "bea", "bea-password");
        expect(answer.status).toBe(400);
        expect(answer.body.detail).toBe(
          "The directory cannot be asked at the moment. Try again, or ask an administrator.",
        );
        const tried = await boss.call("POST /api/v1/auths/admin/config/ldap/try", {
          user: "bea",
          password: "bea-password",
        });
        expect(tried.body).toMatchObject({ ok: false, reason: expect.stringMatching(reason) });
      } finally {
        await one.close();
      }
    },
  );

  it("brings groups: those there are, and where it may, new ones; administrators keep theirs", async () => {
    const env = toEnv(directory, { ENABLE_LDAP_GROUP_MANAGEMENT: "true" });
    const one = await startApp({ env });
    try {
      const boss = await one.admin();
      const make = async (name: string) =>
        (await boss.call("POST /api/v1/groups/create", { name, description: "" })).body.id as string;
      const [millers, others] = [await make("Millers"), await make("Others")];
      const groupsOf = async (bearer: string) =>
        (await one.call("GET /api/v1/groups/", { token: bearer })).body
          .map(({ name }: { name: string }) => name)
          .toSorted();
      const { body } = await signIn(one, "ada", "ada-password");
      expect(await groupsOf(body.token)).toEqual(["Millers"]);
      await boss.call(`POST /api/v1/groups/id/${others}/users/add`, { user_ids: [body.id] });
      await boss.call(`POST /api/v1/groups/id/${millers}/users/remove`, { user_ids: [body.id] });
      const tried = await boss.call("POST /api/v1/auths/admin/config/ldap/try", {
        user: "ada",
        password: "ada-password",
      });
      expect(tried.body.outcome.groups).toEqual({
        joins: ["Millers"],
        leaves: ["Others"],
        creates: [],
        unknown: ["Sluice, north"],
      });
      await boss.call("POST /api/v1/auths/admin/config/ldap/server", {
        ...(await boss.call("GET /api/v1/auths/admin/config/ldap/server")).body,
        enable_group_creation: true,
      });
      const again = await signIn(one, "ada", "ada-password");
      expect(await groupsOf(again.body.token)).toEqual(["Millers", "Sluice, north"]);
      await boss.call(`POST /api/v1/users/${body.id}/update`, {
        name: "Ada",
        email: "ada@mill.test",
        role: "admin",
        profile_image_url: "/user.png",
      });
      await boss.call(`POST /api/v1/groups/id/${millers}/users/remove`, { user_ids: [body.id] });
      const admin = await signIn(one, "ada", "ada-password");
      expect(admin.body.role).toBe("admin");
      expect((await boss.call(`POST /api/v1/groups/id/${millers}/users`)).body).toEqual([]);
    } finally {
      await one.close();
    }
  });
});
