/*
title: Shared list
description: One list that everybody who has this tool adds to and ticks off
*/

export const meta = { capabilities: { storage: true } };

export const valves = {
  name: { type: "string", default: "Shopping", title: "Name of the list" },
  most: { type: "integer", default: 100, minimum: 1, maximum: 500, title: "Most entries" },
};

const key = "entries";
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

export const tools = {
  list_entries: {
    description: "Reads the shared list and shows it to the user",
    parallel: true,
    async run(_parameters, { host, valves }) {
      const entries = (await host.storage.get(key)) ?? [];
      const rows = entries
        .map(({ text, by }) => `<li>${escape(text)} <small>${escape(by)}</small></li>`)
        .join("");
      // The page is shown to the person, the context is what the model reads.
      return {
        html: `<h3>${escape(valves.name)}</h3><ul>${rows || "<li>Empty</li>"}</ul>`,
        context: entries,
      };
    },
  },
  add_entry: {
    description: "Adds an entry to the shared list",
    parameters: {
      type: "object",
      properties: { text: { type: "string", maxLength: 200 } },
      required: ["text"],
    },
    async run({ text }, { host, user, valves }) {
      const entries = (await host.storage.get(key)) ?? [];
      if (entries.length >= valves.most) {
        throw new Error(`The list is full: it takes ${valves.most} entries.`);
      }
      await host.storage.set(key, [...entries, { text, by: user.name }]);
      return { added: text, entries: entries.length + 1 };
    },
  },
  tick_off: {
    description: "Takes an entry off the shared list",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    async run({ text }, { host }) {
      const entries = (await host.storage.get(key)) ?? [];
      const left = entries.filter((entry) => entry.text !== text);
      await host.storage.set(key, left);
      return { gone: entries.length - left.length, entries: left.length };
    },
  },
};
