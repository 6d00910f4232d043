import { describe, expect, it } from "vitest";
import { CallLabels, createLongLabels } from "./call-labels.ts";

const shown = /^[A-Za-z0-9_-]{1,64}$/;
const labels = () => new CallLabels(createLongLabels());

describe("ids", () => {
  it.each(["call_1", "toolu_01AbC-9", "a".repeat(64)])("%s is shown as it is", (id) => {
    expect(labels().toClientId(id)).toBe(id);
    expect(labels().toUpstreamId(id)).toBe(id);
  });

  it.each(["functions.weather:0", "é", "a b", ".".repeat(40)])(
    "%s is shown in other signs, and known again by every replica",
    (id) => {
      const client = labels().toClientId(id);
      expect(client).toMatch(shown);
      expect(labels().toUpstreamId(client)).toBe(id);
    },
  );

  it("that are too long to be written in other signs are known again by this process", () => {
    const long = createLongLabels();
    const id = `call_1__thought__${"x".repeat(2000)}`;
    const client = new CallLabels(long).toClientId(id);
    expect(client).toMatch(shown);
    expect(new CallLabels(long).toUpstreamId(client)).toBe(id);
    // Another replica sends it as it is: the same for a call and its result.
    expect(labels().toUpstreamId(client)).toBe(client);
  });

  it("that two upstreams made alike stay apart", () => {
    expect(labels().toClientId("a.b")).not.toBe(labels().toClientId("a:b"));
  });

  it("of callers that only look like ours go on as they are", () => {
    expect(labels().toUpstreamId("toolu_e_????")).toBe("toolu_e_????");
    expect(labels().toUpstreamId("toolu_e_x")).toBe("toolu_e_x");
  });

  it("that are missing are made", () => {
    expect(labels().toClientId("")).toMatch(/^toolu_\w+$/);
  });
});

describe("names", () => {
  const long = `mcp__server__${"read_everything_".repeat(5)}now`;

  it("of usual length are the same on both sides", () => {
    const both = labels();
    expect(both.toUpstreamName("weather")).toBe("weather");
    expect(both.toClientName("weather")).toBe("weather");
  });

  it("that are longer are shortened for the upstream, and restored", () => {
    const both = labels();
    const name = both.toUpstreamName(long);
    expect(name).toMatch(shown);
    expect(name.startsWith("mcp__server__read_everything_")).toBe(true);
    expect(both.toUpstreamName(`${long}2`)).not.toBe(name);
    expect(both.toClientName(name)).toBe(long);
    // A prompt cache of the upstream sees the same name each time.
    expect(labels().toUpstreamName(long)).toBe(name);
  });

  it("with signs that upstreams refuse are restored, too", () => {
    const both = labels();
    const name = both.toUpstreamName("files.read");
    expect(name).toMatch(shown);
    expect(both.toClientName(name)).toBe("files.read");
  });

  it("that no caller declared are shown in allowed signs, and known again", () => {
    const client = labels().toClientName("default_api:weather");
    expect(client).toMatch(shown);
    expect(labels().toUpstreamName(client)).toBe("default_api:weather");
  });
});
