import { once } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { DirectBody, consumeBody } from "./direct-body.ts";

function open() {
  const told: string[] = [];
  const body = new DirectBody({
    pause: () => told.push("pause"),
    resume: () => told.push("resume"),
    abandon: (error) => told.push(`abandon ${error?.message ?? "without reason"}`),
  });
  return { body, told };
}

function listener() {
  const heard: string[] = [];
  return {
    heard,
    receiver: {
      data: (piece: Buffer) => void heard.push(piece.toString()),
      end: () => void heard.push("end"),
      failed: (error: Error) => void heard.push(`failed: ${error.message}`),
    },
  };
}

describe("a body taken directly", () => {
  it("gives what came before and what comes after, in order", () => {
    const { body } = open();
    const { heard, receiver } = listener();
    body.arrive(Buffer.from("a"));
    consumeBody(body, receiver);
    body.arrive(Buffer.from("b"));
    body.complete();
    expect(heard).toEqual(["a", "b", "end"]);
  });

  it("that was complete before anybody asked is given whole", () => {
    const { body } = open();
    const { heard, receiver } = listener();
    body.arrive(Buffer.from("a"));
    body.complete();
    consumeBody(body, receiver);
    expect(heard).toEqual(["a", "end"]);
  });

  it("tells its failure once, before and after it was taken", () => {
    for (const isEarly of [true, false]) {
      const { body } = open();
      const { heard, receiver } = listener();
      const fail = () => body.destroy(new Error("reset"));
      if (isEarly) {
        fail();
        consumeBody(body, receiver);
      } else {
        consumeBody(body, receiver);
        fail();
        fail();
      }
      expect(heard).toEqual(["failed: reset"]);
    }
  });

  it("lets the connection go when it is given up, and says nothing more", () => {
    const { body, told } = open();
    const { heard, receiver } = listener();
    const flow = consumeBody(body, receiver);
    flow.pause();
    flow.abort();
    expect(told.slice(-2)).toEqual(["pause", "abandon without reason"]);
    body.arrive(Buffer.from("late"));
    expect(heard).toEqual([]);
  });
});

describe("a body read as a stream", () => {
  it("pauses its connection when nobody reads", async () => {
    const { body, told } = open();
    body.arrive(Buffer.alloc(70_000));
    expect(told).toEqual(["pause"]);
    const [piece] = (await once(body, "data")) as [Buffer];
    expect(piece.length).toBe(70_000);
    expect(told).toContain("resume");
    body.destroy();
  });

  it("gives what came before and what comes after, in order, and ends", async () => {
    for (const isEarly of [true, false]) {
      const { body } = open();
      body.arrive(Buffer.from("a"));
      if (isEarly) {
        body.complete();
      }
      const heard: string[] = [];
      body.on("data", (piece: Buffer) => void heard.push(piece.toString()));
      if (!isEarly) {
        await once(body, "data");
        body.arrive(Buffer.from("b"));
        body.complete();
      }
      await once(body, "close");
      expect(heard).toEqual(isEarly ? ["a"] : ["a", "b"]);
    }
  });

  it("can still be taken, with all that was not read", async () => {
    const { body } = open();
    const { heard, receiver } = listener();
    body.arrive(Buffer.from("a"));
    body.arrive(Buffer.from("b"));
    expect(String(body.read(1))).toBe("a");
    consumeBody(body, receiver);
    body.arrive(Buffer.from("c"));
    body.complete();
    await once(body, "close");
    expect(heard.join("")).toBe("bcend");
  });
});

describe("any other stream", () => {
  it("can be taken the same way", async () => {
    const body = new PassThrough();
    const { heard, receiver } = listener();
    consumeBody(body, receiver);
    body.write("a");
    body.end("b");
    await new Promise((resolve) => body.once("close", resolve));
    expect(heard).toEqual(["a", "b", "end"]);
  });

  it("that closes early has failed", async () => {
    const body = new PassThrough();
    const { heard, receiver } = listener();
    consumeBody(body, receiver);
    body.destroy();
    await new Promise((resolve) => body.once("close", resolve));
    expect(heard).toEqual(["failed: the upstream closed early"]);
  });
});
