import { beforeEach, describe, expect, test } from "vitest";
import type { AppError } from "#kernel/errors.ts";
import type { Principal, Role } from "./principal.ts";
import { type Action, createAccess, type Resource } from "./resource.ts";

interface Row {
  readonly id: string;
  readonly owner: string | null;
}

const rows: readonly Row[] = [
  { id: "annas", owner: "anna" },
  { id: "nobodys", owner: null },
];

let given: Set<string>;
let adminsPass: boolean;

const access = createAccess({
  adminsPass: () => adminsPass,
  grants: {
    allowed: async ({ userId, groupIds }, permission, type, ids) => {
      const who = [userId, ...groupIds];
      return new Set(ids.filter((id) => who.some((one) => given.has(`${one} ${permission} ${type} ${id}`))));
    },
  },
});

const notes: Resource<Row> = {
  type: "note",
  find: async (id) => rows.find((row) => row.id === id),
  ownerOf: (row) => row.owner,
};

function as(userId: string, role: Role = "user", groupIds: readonly string[] = []): Principal {
  const facts = { name: "", email: "", permissions: {}, credential: "session", session: null } as const;
  return { userId, role, groupIds, ...facts };
}

async function outcome(principal: Principal, id: string, action: Action, resource = notes): Promise<string> {
  const loader = access.loader(resource);
  const found = await loader.find(principal, id, action);
  const loaded = await loader.load(principal, id, action).then(
    () => "ok",
    (error: AppError) => error.code,
  );
  // Both ways to a row decide alike.
  expect(found !== undefined).toBe(loaded === "ok");
  return loaded;
}

beforeEach(() => {
  given = new Set();
  adminsPass = true;
});

test("the owner reads and writes, others find nothing", async () => {
  expect(await outcome(as("anna"), "annas", "write")).toBe("ok");
  expect(await outcome(as("ben"), "annas", "read")).toBe("not_found");
  expect(await outcome(as("ben"), "annas", "write")).toBe("not_found");
});

test("a foreign row is no different from one that does not exist", async () => {
  const loader = access.loader(notes);
  const errors = await Promise.all(
    ["annas", "absent"].map((id) => loader.load(as("ben"), id, "write").catch((error: AppError) => error)),
  );
  const [foreign, absent] = errors as AppError[];
  expect([foreign?.code, foreign?.detail, foreign?.headers]).toEqual([
    absent?.code,
    absent?.detail,
    absent?.headers,
  ]);
});

test("whoever may read but not write is told so", async () => {
  given.add("ben read note annas");
  expect(await outcome(as("ben"), "annas", "read")).toBe("ok");
  expect(await outcome(as("ben"), "annas", "write")).toBe("forbidden");
});

test("a grant reaches members of its group, for its own kind of row and right alone", async () => {
  given.add("team write note annas").add("team read file annas");
  expect(await outcome(as("ben", "user", ["team"]), "annas", "write")).toBe("ok");
  expect(await outcome(as("ben", "user", ["other"]), "annas", "write")).toBe("not_found");
  expect(await outcome(as("ben", "user", ["team"]), "annas", "write", { ...notes, type: "file" })).toBe(
    "forbidden",
  );
});

test("a row without an owner belongs to nobody, not to callers without an id", async () => {
  expect(await outcome(as(""), "nobodys", "read")).toBe("not_found");
  expect(await outcome(as("null"), "nobodys", "read")).toBe("not_found");
});

describe("administrators", () => {
  const admin = as("root", "admin");

  test("pass unless an operator forbids it, which counts at once", async () => {
    expect(await outcome(admin, "annas", "write")).toBe("ok");
    expect(access.passes(admin)).toBe(true);
    adminsPass = false;
    expect(await outcome(admin, "annas", "write")).toBe("not_found");
    expect(access.passes(admin)).toBe(false);
    expect(access.passes(as("anna"))).toBe(false);
  });

  test("need a grant where the resource says so", async () => {
    const closed = { ...notes, adminPasses: false };
    expect(await outcome(admin, "annas", "read", closed)).toBe("not_found");
    given.add("root read note annas");
    expect(await outcome(admin, "annas", "read", closed)).toBe("ok");
  });
});

test("a further way in is asked last, and for the very right that is wanted", async () => {
  const asked: string[] = [];
  const linked: Resource<Row> = {
    ...notes,
    reachable: async (principal, row, action) => {
      asked.push(`${principal.userId} ${row.id} ${action}`);
      return action === "read";
    },
  };
  expect(await outcome(as("anna"), "annas", "write", linked)).toBe("ok");
  expect(asked).toEqual([]);
  expect(await outcome(as("ben"), "annas", "read", linked)).toBe("ok");
  expect(await outcome(as("ben"), "annas", "write", linked)).toBe("forbidden");
  expect(new Set(asked)).toEqual(new Set(["ben annas read", "ben annas write"]));
});

test.each<Action>(["read", "write"])(
  "an absent id takes as many looks at the grants as a foreign one: %s",
  async (action) => {
    const looks: string[] = [];
    const counting = createAccess({
      adminsPass: () => true,
      grants: {
        async allowed(_principal, permission) {
          looks.push(permission);
          return new Set();
        },
      },
    }).loader(notes);
    const count = async (id: string) => {
      looks.length = 0;
      await expect(counting.load(as("bob"), id, action)).rejects.toMatchObject({ code: "not_found" });
      return [...looks];
    };
    const foreign = await count("annas");
    expect(foreign.length).toBeGreaterThan(0);
    expect(await count("absent")).toEqual(foreign);
  },
);
