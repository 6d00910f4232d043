import { describe, expect, it } from "vitest";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { rateLimited, text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(useAppWithUpstream({ connection: {} })));
  admin = await app.admin();
});

const messages = [{ role: "user", content: "Hi" }];
const posts = () => upstream.requests.filter(({ method }) => method === "POST").length;

describe("idempotency", () => {
  const keyed = (key: string, body: object) =>
    admin.call(
      "POST /api/chat/completions",
      { model: "alpha", messages, ...body },
      { "idempotency-key": key },
    );

  it("gives the stored answer to the same request and refuses another body", async () => {
    upstream.reply("/chat/completions", text("once"));
    const before = posts();
    const first = await keyed("k1", { seed: 21 });
    const second = await keyed("k1", { seed: 21 });
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(posts() - before).toBe(1);
    expect((await keyed("k1", { seed: 22 })).status).toBe(409);
  });

  it("lets exactly one of ten at once through", async () => {
    const refused = Promise.withResolvers<void>();
    upstream.always(
      ({ body }) => body?.seed === 23,
      async (exchange) => {
        // A model that is quicker than nine requests would answer some of them with what it has stored.
        await refused.promise;
        await text("one effect")(exchange);
      },
    );
    const before = posts();
    let refusals = 0;
    const ask = async () => {
      const answer = await keyed("k2", { seed: 23, stream: true });
      refusals += answer.status === 409 ? 1 : 0;
      if (refusals === 9) {
        refused.resolve();
      }
      return answer;
    };
    const answers = await Promise.all(Array.from({ length: 10 }, ask));
    expect(posts() - before).toBe(1);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
    expect((await keyed("k2", { seed: 23, stream: true })).text).toBe(
      answers.find(({ status }) => status === 200)?.text,
    );
  });

  it("has a stream's answer for the next request as soon as the stream is over", async () => {
    upstream.always(({ body }) => body?.seed === 25, text("over"));
    for (let round = 0; round < 20; round += 1) {
      const first = await keyed(`k4-${round}`, { seed: 25, stream: true });
      const second = await keyed(`k4-${round}`, { seed: 25, stream: true });
      expect([second.status, second.text]).toEqual([200, first.text]);
    }
  });

  it("takes an empty key for none", async () => {
    upstream.reply("/chat/completions", text("one"));
    upstream.reply("/chat/completions", text("two"));
    const before = posts();
    expect([(await keyed("", {})).status, (await keyed("", { seed: 24 })).status]).toEqual([200, 200]);
    expect(posts() - before).toBe(2);
  });

  it("gives the key back when the request failed", async () => {
    upstream.reply("/chat/completions", rateLimited());
    expect((await keyed("k3", {})).status).toBe(429);
    upstream.reply("/chat/completions", text("now"));
    expect((await keyed("k3", {})).status).toBe(200);
  });
});
