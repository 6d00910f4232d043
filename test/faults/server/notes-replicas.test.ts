import { afterAll, beforeAll, expect, it } from "vitest";
import { noteClient, openWriter, type Writer } from "#plugins/notes/notes.fixture.ts";
import { callServer } from "#test/support/app.ts";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { report, times } from "#test/support/faults.ts";
import { connectPlain, within } from "#test/support/sockets.ts";

let all: ChatServers;

beforeAll(async () => {
  all = await startChatServers({ database: "server", replicas: 2 });
}, 180_000);
afterAll(() => all?.close());

const perSecond = 50;
const words = (name: string, from: number, count: number) =>
  Array.from({ length: count }, (_, at) => `${name} ${from + at}`);

const lines = (text: string) => text.split("\n\n").filter(Boolean).toSorted();

/** Writes a word every 20 ms without waiting for answers; resolves to those that were acknowledged. */
async function type(writer: Writer, list: readonly string[]): Promise<string[]> {
  const kept: string[] = [];
  const answers = list.map(async (word, at) => {
    await new Promise((resolve) => setTimeout(resolve, (at * 1000) / perSecond));
    const answer = await within(20_000, writer.add(word));
    if (answer === true) {
      kept.push(word);
    }
  });
  await Promise.all(answers);
  return kept;
}

it("two windows on two replicas end with the same text, and a killed replica loses nothing", async () => {
  const { token } = all.admin();
  const { id } = (await callServer(all.servers[0]!.url, "GET /api/v1/auths/", { token })).body;
  const clientOf = (at: number) =>
    noteClient({
      id,
      token,
      name: "",
      email: "",
      call: (route, body) => callServer(all.servers[at]!.url, route, { token, body }),
    });
  const note = await clientOf(0).make("Together");
  const open = async (at: number) =>
    await openWriter(await connectPlain(all.servers[at]!.url, { token }), note.id);
  const [one, two] = [await open(0), await open(1)];
  const count = times(100, 250);

  const both = await Promise.all([type(one, words("a", 0, count)), type(two, words("b", 0, count))]);
  expect(both.map(({ length }) => length)).toEqual([count, count]);
  await expect.poll(() => one.text() === two.text(), { timeout: 30_000 }).toBe(true);
  expect(lines(one.text())).toEqual(both.flat().toSorted());

  // The replica dies while both write: what it acknowledged is there, and what it had not yet is sent again.
  const writing = Promise.all([type(one, words("c", 0, count)), type(two, words("d", 0, count))]);
  await new Promise((resolve) => setTimeout(resolve, (count * 1000) / perSecond / 2));
  await all.servers[1]!.kill();
  const [ofOne, ofTwo] = await writing;
  expect(ofTwo.length).toBeLessThan(count);
  const text = async () => lines(await clientOf(0).read(note.id));
  const expected = [...both.flat(), ...ofOne, ...ofTwo];
  expect((await text()).filter((line) => expected.includes(line))).toEqual(expected.toSorted());

  await all.start(1);
  // The window comes back, and sends what it knows.
  const back = await connectPlain(all.servers[1]!.url, { token });
  await back.emit("ydoc:document:join", { document_id: `note:${note.id}` });
  expect(await two.sync(back)).toBe(true);
  const whole = [...both.flat(), ...ofOne, ...words("d", 0, count)].toSorted();
  await expect.poll(() => lines(one.text()), { timeout: 30_000 }).toEqual(whole);
  expect(await text()).toEqual(whole);
  report("notes", "two windows on two replicas, one killed", {
    "edits a second and window": perSecond,
    edits: whole.length,
    "acknowledged before the kill": ofTwo.length,
    lost: whole.length - lines(one.text()).length,
  });
}, 300_000);
