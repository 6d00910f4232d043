import { expect } from "vitest";
import { createRandom, type Random } from "../random.fixture.ts";
import type { ScimClient } from "../scim.fixture.ts";
import { randomFilter, type Resource, words } from "./random-filters.fixture.ts";

export interface FilterTrial {
  readonly seed: number;
  /** Filters of each kind of resource. */
  readonly count: number;
}

/**
 * Compares what the server finds by random filters with what a plain reading of RFC 7644, 3.4.2.2, finds in memory, for
 * users and groups. Resolves to how many filters found some and not all.
 */
export async function compareFilters(provider: ScimClient, { seed, count }: FilterTrial): Promise<number> {
  const random = createRandom(seed);
  const made = await makeResources(provider, random, seed);
  let telling = 0;
  for (const kind of ["Users", "Groups"] as const) {
    const all = (await provider.call(`GET /${kind}?count=100`)).body.Resources as Resource[];
    const name = kind === "Users" ? "userName" : "displayName";
    for (let at = 0; at < count; at++) {
      const { text, fits } = randomFilter(kind, random, all);
      const names = (await provider.find(kind, text)).toSorted();
      const expected = all.filter(fits).map((each) => each[name] as string);
      expect({ seed, text, names }).toEqual({ seed, text, names: expected.toSorted() });
      telling += names.length > 0 && names.length < all.length ? 1 : 0;
    }
  }
  for (const path of made) {
    expect((await provider.call(`DELETE ${path}`)).status).toBe(204);
  }
  return telling;
}

/** Resolves to their paths. */
async function makeResources(provider: ScimClient, random: Random, seed: number): Promise<string[]> {
  const { pick, below } = random;
  const users: string[] = [];
  for (let index = 0; index < 40; index++) {
    const userName = `${pick(["ana", "ben", "zoe", "x.y"])}${index}.${seed}@${pick(["x", "home"])}.test`;
    const name = { givenName: pick(words), ...(below(2) === 0 && { familyName: pick(words) }) };
    const emails = [
      { value: userName, primary: true, ...(below(2) === 0 && { type: "work" }) },
      {
        value: `${pick(["ana", "B"])}@home.test`,
        type: "home",
        ...(below(2) === 0 && { display: pick(words) }),
      },
    ];
    const user = await provider.user(userName, {
      ...(below(4) > 0 && { displayName: `${pick(words)}${index}` }),
      ...(below(3) > 0 && { name }),
      ...(below(2) === 0 && { externalId: `${pick(words)}${index}` }),
      ...(below(3) > 0 && { emails: emails.slice(0, below(3)) }),
      active: below(3) > 0,
    });
    users.push(user.id);
  }
  const groups: string[] = [];
  for (let index = 0; index < 12; index++) {
    const from = below(users.length);
    const displayName = `${pick(words.filter((word) => word !== ""))} ${pick(words)}${index}`;
    const group = await provider.group(displayName, users.slice(from, from + below(12)), {
      ...(below(2) === 0 && { externalId: `${pick(words)}${index}` }),
    });
    groups.push(group.id);
  }
  return [...users.map((id) => `/Users/${id}`), ...groups.map((id) => `/Groups/${id}`)];
}
