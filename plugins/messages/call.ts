import type { Principal } from "#kernel/access/principal.ts";
import type { CallContext, MessageSupport } from "#kernel/completion/provider.ts";
import type { FindProfile } from "#plugins/models/service.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { RequestInfo } from "#kernel/http/route.ts";
import type { Logger } from "#kernel/log.ts";
import type { Completions } from "#plugins/completions/service.ts";
import type { Models, ResolvedModel } from "#plugins/models/service.ts";
import type { MessageFormat } from "#plugins/provider-message/service.ts";
import type { LongLabels } from "./call-labels.ts";
import type { MessageRequest } from "./schema.ts";

export interface MessagesOptions {
  readonly models: Models;
  readonly completions: Completions;
  /** Undefined where the plugin `provider-message` is left out: prompts cannot be counted then. */
  readonly format: MessageFormat | undefined;
  readonly egress: Egress;
  readonly longLabels: LongLabels;
  readonly log: Logger;
  readonly findProfile: FindProfile;
}

/** One request as the client sent it. */
export interface IncomingRequest {
  readonly body: MessageRequest;
  /** The JSON text that `body` was read from. */
  readonly text: string;
  readonly caller: Principal;
  readonly request: RequestInfo;
}

/** A request with the model that answers it; of an arena, the member that was chosen. */
export interface Call {
  readonly incoming: IncomingRequest;
  readonly model: ResolvedModel;
  readonly support: MessageSupport | undefined;
  /** Facts of the call that an upstream of the format gets besides the body. */
  readonly context: CallContext;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
}
