import { z } from "zod";
import { definePlugin } from "#kernel/plugin.ts";
import { bool } from "#config/variable.ts";
import { fill } from "#kernel/service.ts";
import { defineSocketHandler } from "#kernel/sockets/handler.ts";
import { type Hub, hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { readMarks, userRooms } from "./service.ts";

/** What the plugin below got hold of. */
export interface Stage {
  readonly hub: Hub;
  readonly marks: { kind: string; user: string; id: string }[];
  /** How often `stage:blob` was handled. */
  blobs: number;
  /** What `stage:gate` waits for. */
  gate: Promise<void>;
}

/** A plugin that uses sockets as channels, chats and notes will: it holds the hub for the test, and has events of its own. */
export function makeStage() {
  const stage: Omit<Stage, "hub"> & { hub?: Hub } = { marks: [], blobs: 0, gate: Promise.resolve() };
  const plugin = definePlugin({
    id: "stage",
    title: "Stage",
    config: {
      enabled: bool("ENABLE_STAGE", true, { key: "stage.enable", persisted: true, text: "Stage" }),
    },
    uses: { hub },
    enabled: (config) => config.enabled,
    setup({ use }) {
      stage.hub = use.hub;
      return {
        sockets: {
          "stage:add": defineSocketHandler(
            { data: z.object({ a: z.int(), b: z.int() }) },
            ({ data, caller }) => ({
              sum: data.a + data.b,
              by: caller.userId,
            }),
          ),
          "stage:join": defineSocketHandler(
            { data: z.object({ channel: z.string() }) },
            ({ data, session }) => {
              session.join(toRoom("channel", data.channel));
              return [...session.rooms].length;
            },
          ),
          "stage:fail": defineSocketHandler({}, () => {
            throw new Error("a secret reason");
          }),
          "stage:slow": defineSocketHandler(
            {},
            () => new Promise((resolve) => setTimeout(resolve, 50, "done")),
          ),
          "stage:gate": defineSocketHandler({}, () => stage.gate),
          "stage:blob": defineSocketHandler({ data: z.object({ size: z.int() }) }, ({ data }) => {
            stage.blobs += 1;
            return "x".repeat(data.size);
          }),
          "stage:big": defineSocketHandler({}, () => ({ nanoseconds: 1_763_742_000_000_000_001n })),
        },
        fills: [
          fill(userRooms, async () => [toRoom("channel", "everybody")]),
          ...(["channel", "chat"] as const).map((kind) =>
            fill(readMarks, {
              kind,
              mark: async ({ userId }, id) => void stage.marks.push({ kind, user: userId, id }),
            }),
          ),
        ],
      };
    },
  });
  return { plugin, stage: stage as Stage };
}
