import type { Api } from "#plugins/catalogue.ts";
import { ApiError } from "#plugins/web/kit/client.ts";
import { server } from "#plugins/web/kit/server.ts";

export type FactorState = Api["GET /api/v1/auths/mfa"]["answer"];

/** One's own factors, and what waits for a proof of who asks. */
export class Factors {
  state = $state.raw<FactorState>();
  failure = $state<string>();
  /** Runs once the person has proved who they are. */
  waiting = $state.raw<() => Promise<void>>();

  async load(): Promise<void> {
    try {
      this.state = await server.call("GET /api/v1/auths/mfa");
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  /** Runs a change; where the server asks for a proof first, the change waits for it. */
  async change(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!needsProof(error)) {
        throw error;
      }
      this.waiting = run;
    }
  }
}

function needsProof(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.status === 403 &&
    (error.body as { detail?: unknown } | null)?.detail === "reauthentication_required"
  );
}
