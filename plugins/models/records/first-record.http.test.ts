import { expect, it } from "vitest";
import { everybody, startModels } from "../models.fixture.ts";

it("the first record of a provider's model lets in whom its connection let in, unless it says otherwise", async () => {
  const open = await startModels({
    OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }),
  });
  try {
    const member = await open.app.user();
    expect(await open.listed(member)).toEqual(["alpha", "beta"]);
    const offered = (await open.get("/api/models/base")).body.data;
    expect(offered.find(({ id }: { id: string }) => id === "alpha").access_grants).toEqual([everybody]);
    await open.post("create", { id: "alpha", name: "alpha", base_model_id: null, meta: { filterIds: [] } });
    await open.post("create", { id: "beta", name: "beta", base_model_id: null, access_grants: [] });
    expect(await open.listed(member)).toEqual(["alpha"]);
  } finally {
    await open.close();
  }
});
