import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toCaller } from "../accounts.fixture.ts";
import { createKeptValves } from "./kept-valves.ts";
import { openPeople, type People } from "../people.fixture.ts";
import { createUserSettings, type UserSettings } from "./settings.ts";
import { createUserStatus } from "./status.ts";
import type { UserRow } from "../users/users-store.ts";

let people: People;
let settings: UserSettings;
let ann: UserRow;
let defaults: Record<string, unknown> = {};
let first: Record<string, unknown> = {};
const allowed = { settings: { interface: true } };

beforeAll(async () => {
  people = await openPeople();
  settings = createUserSettings({ ...people, defaults: () => defaults, first: () => first });
  ann = await people.add("Ann");
});

afterAll(() => people.database.close());

describe("interface settings", () => {
  it("apply what is sent, keep what is not, and fall back to the instance for null", async () => {
    defaults = { theme: "light", widescreen: true };
    const caller = toCaller(ann, { permissions: allowed });
    expect(await settings.read(ann.id)).toEqual({ ui: { theme: "light", widescreen: true }, own: [] });
    await settings.update(caller, { theme: "dark", models: ["a"], deep: { x: { y: 1 } } });
    await settings.update(caller, { models: ["a", "b"], deep: { z: 2 } });
    const chosen = { theme: "dark", models: ["a", "b"], deep: { z: 2 }, widescreen: true };
    expect(await settings.read(ann.id)).toEqual({ ui: chosen, own: ["deep", "theme", "models"] });
    const cleared = await settings.update(caller, { theme: null, deep: null, never: null });
    const left = { theme: "light", models: ["a", "b"], widescreen: true };
    expect(cleared).toEqual({ ui: left, own: ["models"] });
    defaults = { theme: "sepia" };
    expect((await settings.read(ann.id)).ui).toEqual({ theme: "sepia", models: ["a", "b"] });
  });

  it("keep every field when many clients write at once", async () => {
    const bea = await people.add("Bea");
    const caller = toCaller(bea, { permissions: allowed });
    await Promise.all(Array.from({ length: 20 }, (_, at) => settings.update(caller, { [`field${at}`]: at })));
    defaults = {};
    expect(Object.keys((await settings.read(bea.id)).ui)).toHaveLength(20);
  });

  it("begin with what the instance gives once, and then are the person's own", async () => {
    const cleo = await people.add("Cleo");
    const caller = toCaller(cleo, { permissions: allowed });
    first = { pinnedModels: ["a"] };
    expect(await settings.update(caller, { theme: "dark" })).toEqual({
      ui: { theme: "dark", pinnedModels: ["a"] },
      own: ["theme", "pinnedModels"],
    });
    first = { pinnedModels: ["b"] };
    expect((await settings.read(cleo.id)).ui["pinnedModels"]).toEqual(["a"]);
    await settings.update(caller, { pinnedModels: [] });
    expect((await settings.read(cleo.id)).ui["pinnedModels"]).toEqual([]);
    await settings.update(caller, { pinnedModels: null });
    expect((await settings.read(cleo.id)).ui["pinnedModels"]).toEqual(["b"]);
    first = {};
  });

  it("take a megabyte in all, however many write at once", async () => {
    const dan = await people.add("Dan");
    const caller = toCaller(dan, { permissions: allowed });
    const part = "x".repeat(200_000);
    const writes = Array.from({ length: 8 }, (_, at) => settings.update(caller, { [`field${at}`]: part }));
    const outcomes = await Promise.allSettled(writes);
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).toHaveLength(3);
    expect(refused[0]?.reason).toMatchObject({ code: "too_large" });
    expect(Object.keys((await settings.read(dan.id)).ui)).toHaveLength(5);
  });

  it("are written by nobody without the permission", async () => {
    await expect(settings.update(toCaller(ann), { theme: "x" })).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe("info and variables", () => {
  it("merge info and bound its size", async () => {
    await settings.updateInfo(ann.id, { location: "Bern", a: 1 });
    expect(await settings.updateInfo(ann.id, { a: { b: 2 } })).toEqual({ location: "Bern", a: { b: 2 } });
    expect(await settings.info(ann.id)).toEqual({ location: "Bern", a: { b: 2 } });
    const attempt = settings.updateInfo(ann.id, { big: "x".repeat(300_000) });
    await expect(attempt).rejects.toMatchObject({ code: "too_large" });
  });

  it("replace variables and leave the settings alone", async () => {
    await settings.updateVariables(ann.id, { city: "Bern", x: "" });
    await settings.updateVariables(ann.id, { city: "Basel" });
    expect(await settings.variables(ann.id)).toEqual({ city: "Basel" });
    expect(await settings.read(ann.id)).not.toHaveProperty("variables");
    await expect(settings.updateVariables(ann.id, { "no good": "" })).rejects.toMatchObject({
      code: "invalid",
    });
    expect(await settings.variables(ann.id)).toEqual({ city: "Basel" });
  });
});

it("takes a megabyte of somebody's valves in all", async () => {
  const valves = createKeptValves(people.db);
  const write = (id: string) => valves.write(ann.id, { section: "tools", id }, { text: "x".repeat(600_000) });
  await write("a");
  await write("a");
  await expect(write("b")).rejects.toMatchObject({ code: "too_large" });
  expect(Object.keys(await valves.read(ann.id, "tools"))).toEqual(["a"]);
});

it("lets who keeps more than that already change it, but not add to it", async () => {
  const eve = await people.add("Eve");
  const caller = toCaller(eve, { permissions: allowed });
  const valves = createKeptValves(people.db);
  const [long, same] = ["x".repeat(2_000_000), "y".repeat(2_000_000)];
  const grown = { settings: { ui: { long }, tools: { valves: { a: long, b: 1 } } }, info: { long, a: 1 } };
  await people.db.updateTable("user").set(grown).where("id", "=", eve.id).execute();
  await settings.update(caller, { long: same });
  await settings.update(caller, { long: "short", theme: "dark" });
  await settings.updateInfo(eve.id, { long: same });
  await valves.write(eve.id, { section: "tools", id: "a" }, same);
  expect((await settings.read(eve.id)).ui).toMatchObject({ long: "short", theme: "dark" });
  // Awaited one after the other: a second one that is refused meanwhile would be a rejection nobody handles.
  await expect(settings.updateInfo(eve.id, { b: 1 })).rejects.toMatchObject({ code: "too_large" });
  await expect(valves.write(eve.id, { section: "tools", id: "c" }, 1)).rejects.toMatchObject({
    code: "too_large",
  });
});

describe("the user status", () => {
  it("is patched, and is none once it has run out", async () => {
    const status = createUserStatus({ ...people, isOn: () => true });
    const later = Math.floor(Date.now() / 1000) + 1000;
    await status.update(ann.id, { status_emoji: "🌴", status_message: "away", status_expires_at: later });
    await status.update(ann.id, { status_message: "back soon" });
    expect(await status.read(ann.id)).toEqual({
      status_emoji: "🌴",
      status_message: "back soon",
      status_expires_at: later,
    });
    await status.update(ann.id, { status_expires_at: 1000 });
    expect(await status.read(ann.id)).toEqual({
      status_emoji: null,
      status_message: null,
      status_expires_at: null,
    });
  });

  it("answers 403 while it is switched off", async () => {
    const status = createUserStatus({ ...people, isOn: () => false });
    await expect(status.read(ann.id)).rejects.toMatchObject({ code: "forbidden" });
    await expect(status.update(ann.id, {})).rejects.toMatchObject({ code: "forbidden" });
  });
});
