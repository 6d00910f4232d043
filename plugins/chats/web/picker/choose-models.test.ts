import { expect, test } from "vitest";
import { chooseModels, findModels, type ModelWishes } from "./choose-models.ts";
import { can, toModel } from "./model.ts";

const model = (id: string, more: object = {}) => toModel({ id, name: id.toUpperCase(), ...more });
const all = [model("guide"), model("pick-one", { arena: true }), model("mill"), model("river")];
const none: ModelWishes = { asked: [], own: [], lastUsed: [], instance: [], pinned: [] };

test("begins a chat with the first wish that can be had", () => {
  const wishes = { ...none, own: ["gone"], lastUsed: ["gone", "river"], instance: ["mill"] };
  expect(chooseModels(all, wishes)).toEqual(["river"]);
  expect(chooseModels(all, { ...wishes, asked: ["mill", "river", "mill"] })).toEqual(["mill", "river"]);
  expect(chooseModels(all, { ...none, pinned: ["river", "mill"] })).toEqual(["river"]);
});

test("prefers a real model to the guide, and the guide to nothing", () => {
  expect(chooseModels(all, none)).toEqual(["mill"]);
  expect(chooseModels([model("guide")], none)).toEqual(["guide"]);
  expect(chooseModels([], { ...none, own: ["mill"] })).toEqual([]);
});

test("begins by itself with no model whose last call failed, unless there is no other", () => {
  const failing = [model("broken", { failing: true }), model("guide"), model("mill")];
  expect(chooseModels(failing, none)).toEqual(["mill"]);
  expect(chooseModels(failing, { ...none, lastUsed: ["broken"] })).toEqual(["mill"]);
  expect(chooseModels(failing, { ...none, asked: ["broken"] })).toEqual(["broken"]);
  expect(chooseModels(failing.slice(0, 2), none)).toEqual(["broken"]);
});

test("takes no more models side by side than can be read", () => {
  const many = ["a", "b", "c", "d", "e"];
  expect(
    chooseModels(
      many.map((id) => model(id)),
      { ...none, own: many },
    ),
  ).toHaveLength(4);
});

test("finds models by every word, names before descriptions", () => {
  const described = model("other", { info: { meta: { description: "Grinds like a river mill" } } });
  const hidden = model("river-secret", { info: { meta: { hidden: true } } });
  const tagged = model("étude", { tags: [{ name: "Music" }] });
  const list = [described, ...all, hidden, tagged];
  expect(findModels(list, "river").map(({ id }) => id)).toEqual(["river", "other"]);
  expect(findModels(list, "mill grinds").map(({ id }) => id)).toEqual(["other"]);
  expect(findModels(list, "etude").map(({ id }) => id)).toEqual(["étude"]);
  expect(findModels(list, "", "Music").map(({ id }) => id)).toEqual(["étude"]);
});

test("reads whatever stands in a model's metadata", () => {
  const meta = { capabilities: ["vision"], suggestion_prompts: [{ title: "Say", content: "Say it" }, 7] };
  const read = model("x", { name: 5, tags: "none", info: { meta, params: { model_controls: [{ id: 1 }] } } });
  expect(read).toMatchObject({
    name: "x",
    tags: [],
    suggestions: [{ title: ["Say", ""], content: "Say it" }],
    controls: [{ id: "1", label: "1", options: [] }],
  });
  expect([can(read, "vision"), can(read, "usage"), can(undefined, "file_upload")]).toEqual([
    true,
    false,
    true,
  ]);
});
