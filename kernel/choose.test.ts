import { expect, test } from "vitest";
import { bool } from "#config/variable.ts";
import { createRegistry } from "#config/registry.ts";
import { choosePlugins, declareSettings } from "./choose.ts";
import { createLogger } from "./log.ts";
import { type AnyPlugin, definePlugin } from "./plugin.ts";
import { defineService, optional } from "./service.ts";

const clock = defineService<number>("clock");
const bell = defineService<number>("bell");
const setup = () => ({});
const own = definePlugin({ id: "clocks", title: "Clocks", provides: [clock], setup });

/** The ids in the order of setup, and what was logged. */
function choose(foreign: AnyPlugin[], disabled: string[] = [], catalogue: AnyPlugin[] = [own]) {
  const lines: string[] = [];
  const log = createLogger({
    level: "INFO",
    format: "json",
    stream: { write: (line: string) => lines.push(line) },
  });
  const plugins = choosePlugins({ catalogue, foreign, disabled, log });
  return { ids: plugins.map(({ id }) => id), log: lines.join("") };
}

test("a foreign plugin is set up after those whose services it uses", () => {
  const guest = definePlugin({ id: "alarm", title: "Alarm", uses: { clock, bell }, setup });
  const other = definePlugin({ id: "tower", title: "Tower", provides: [bell], setup });
  expect(choose([guest, other])).toEqual({ ids: ["clocks", "tower", "alarm"], log: "" });
});

const page = { id: "clocks", path: "/clocks", title: "Clocks", place: "main", access: "user" } as const;
const withPage = definePlugin({ id: "clocks", title: "Clocks", pages: [page], setup });

test("a foreign plugin whose page has the path of another plugin's page is left out", () => {
  const guest = definePlugin({ id: "dials", title: "Dials", pages: [{ ...page, id: "dials" }], setup });
  const { ids, log } = choose([guest], [], [withPage]);
  expect(ids).toEqual(["clocks"]);
  expect(log).toContain(
    String.raw`its page \"dials\" has the path /clocks, as a page of the plugin clocks does`,
  );
  expect(choose([guest], ["clocks"], [withPage]).ids).toEqual(["dials"]);
});

test("a page that asks for a permission nobody declares is refused, one of a left-out plugin is not", () => {
  const asks = { ...page, id: "dials", path: "/dials", access: "permission:features.time" } as const;
  const guest = definePlugin({ id: "dials", title: "Dials", pages: [asks], setup });
  expect(choose([guest]).log).toContain(
    String.raw`its page \"dials\" asks for the permission features.time, which no plugin declares`,
  );
  const holder = definePlugin({
    id: "time",
    title: "Time",
    permissions: [{ path: "features.time", default: true }],
    setup,
  });
  expect(choose([guest], ["time"], [own, holder])).toEqual({ ids: ["clocks", "dials"], log: "" });
});

test("pages of the project that clash refuse the start, and plugin and page are named", () => {
  const second = definePlugin({ id: "dials", title: "Dials", pages: [{ ...page, id: "dials" }], setup });
  expect(() => choose([], [], [withPage, second])).toThrow(
    'The plugin dials cannot be used: its page "dials" has the path /clocks, as a page of the plugin clocks does.',
  );
});

test("a foreign plugin whose service is missing is left out, and so is who leans on it", () => {
  const tower = definePlugin({
    id: "tower",
    title: "Tower",
    uses: { gear: defineService("gear") },
    provides: [bell],
    setup,
  });
  const alarm = definePlugin({ id: "alarm", title: "Alarm", uses: { bell }, setup });
  const lamp = definePlugin({ id: "lamp", title: "Lamp", uses: { bell: optional(bell) }, setup });
  const { ids, log } = choose([alarm, tower, lamp]);
  expect(ids).toEqual(["clocks", "lamp"]);
  expect(log).toContain("it needs the service gear, which no plugin provides");
  expect(log).toContain("it needs the service bell, which no plugin provides");
});

test("a foreign plugin that asks for a disabled one is told which", () => {
  const guest = definePlugin({ id: "alarm", title: "Alarm", uses: { clock }, setup });
  expect(choose([guest], ["clocks"]).log).toContain(
    "which clocks provides: take clocks out of PLUGINS_DISABLED",
  );
});

test("a foreign plugin takes nobody's id or service, and may take the place of a disabled one", () => {
  const sameId = definePlugin({ id: "clocks", title: "Other clocks", setup });
  expect(choose([sameId]).log).toContain(`its id \\"clocks\\" is taken`);
  const sameService = definePlugin({ id: "sundial", title: "Sundial", provides: [clock], setup });
  expect(choose([sameService])).toMatchObject({
    ids: ["clocks"],
    log: expect.stringContaining("it provides the service clock, as clocks does"),
  });
  expect(choose([sameService], ["clocks"])).toEqual({ ids: ["sundial"], log: "" });
});

test("a name in PLUGINS_DISABLED that is no plugin is told", () => {
  expect(choose([], ["clokcs"]).log).toContain("clokcs");
});

test("a foreign plugin whose variable is taken is left out; an own one stops the start", () => {
  const log = createLogger({ level: "FATAL", format: "json", stream: { write: () => true } });
  const config = () => ({ on: bool("ENABLE_CLOCK", true, { text: "Clock" }) });
  const [first, second] = [
    definePlugin({ id: "first", title: "First", config: config(), setup }),
    definePlugin({ id: "second", title: "Second", config: config(), setup }),
  ];
  const kept = declareSettings([first, second], { registry: createRegistry({}), foreign: [second], log });
  expect([...kept.keys()].map(({ id }) => id)).toEqual(["first"]);
  expect(() => declareSettings([first, second], { registry: createRegistry({}), foreign: [], log })).toThrow(
    "ENABLE_CLOCK is declared twice, by first and by second",
  );
});
