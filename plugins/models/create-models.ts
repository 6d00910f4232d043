import type { ConfigRegistry } from "#config/registry.ts";
import type { Access } from "#kernel/access/resource.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { mapMaybe } from "#kernel/maybe-promise.ts";
import { meterProvider } from "#kernel/upstream/metered.ts";
import { type ModelCall, modelCallEnded } from "#kernel/completion/model-call.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Slot } from "#kernel/service.ts";
import type { Declarations, Notices } from "#kernel/services.ts";
import { GRANTS_CHANNEL, type Grants } from "#storage/grants.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { FileReferences, Files } from "#plugins/files/service.ts";
import { type CatalogueSettings, createCatalogue } from "./catalogue/catalogue.ts";
import { recordsWithFile } from "./pictures/linked-files.ts";
import { FailingModels } from "./catalogue/failing-models.ts";
import { createListing } from "./records/listing.ts";
import { createSavedModels } from "./records/saved-models.ts";
import { announceFailedCalls } from "./failed-calls.ts";
import { clearOrphanedModels } from "./records/orphaned-models.ts";
import { type ModelParts, resourceType } from "./parts.ts";
import { explainModels } from "./catalogue/explain.ts";
import { createPermit, type Permit } from "./catalogue/permit.ts";
import { createProvidedIndex } from "./catalogue/provided.ts";
import { createModelRecords, type ModelRecords } from "./records/records.ts";
import { createReferenceCheck } from "./records/references.ts";
import { catalogueRoutes } from "./routes/catalogue.ts";
import { configRoutes } from "./routes/config.ts";
import { pictureRoute } from "./routes/picture.ts";
import { portableRoutes } from "./routes/portable.ts";
import { listRoutes, recordRoutes, stateRoutes } from "./routes/records.ts";
import type { ModelAddons, ModelReferences, Models, ModelSeed, ResolvedModel } from "./service.ts";
import { existingIds, findRow, insertSeed, modelsChannel } from "./records/store.ts";
import type { ModelDatabase } from "./tables.ts";

interface Context {
  readonly config: CatalogueSettings & { readonly bypassAccess: boolean };
  readonly db: ModelDatabase;
  transaction<R>(run: (tx: ModelDatabase) => Promise<R>): Promise<R>;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly use: {
    readonly access: Access;
    readonly accounts: Accounts;
    readonly audit: Audit | undefined;
    readonly configuration: ConfigRegistry;
    readonly declarations: Declarations;
    readonly events: Events;
    readonly files: Files;
    readonly grants: Grants;
    readonly notices: Notices;
    readonly addons: Slot<ModelAddons>;
    readonly references: Slot<ModelReferences>;
  };
}

/** Creates the parts of the plugin. */
export async function createModels(context: Context) {
  const { db, transaction, use } = context;
  const parts = toParts(context);
  const { records, catalogue, events } = parts;
  await followChanges(use.notices, records);
  const saved = createSavedModels(parts);
  const listing = createListing(parts, saved);
  const routes = catalogueRoutes(catalogue);
  const clearOrphaned = () => clearOrphanedModels(parts);
  const ended = (call: ModelCall) => events.emit(modelCallEnded, call);
  const toMetered = createMetered(ended);
  const service: Models = {
    // Every caller of a model gets it here, so that each call is counted.
    resolve: (principal, id, among) => mapMaybe(catalogue.resolve(principal, id, among), toMetered),
    resolveAsInstance: (id) => catalogue.resolveAsInstance(id).then((model) => model && toMetered(model)),
    isKnown: catalogue.isKnown,
    direct: (model, provider) => toMetered(catalogue.direct(model, provider)),
    list: catalogue.list,
    async seed(seed: ModelSeed) {
      const grant = { principal_type: "user", principal_id: "*", permission: "read" } as const;
      const isNew = await transaction(async (tx) => {
        const inserted = await insertSeed(tx, { params: {}, ...seed });
        if (inserted) {
          await use.grants.replace(tx, resourceType, seed.id, [grant]);
        }
        return inserted;
      });
      if (isNew) {
        await records.refresh();
      }
    },
  };
  return {
    service,
    fileReference: toFileReference(records, parts.permit),
    explained: explainModels(parts),
    existing: (ids: readonly string[]) => existingIds(db, ids),
    routes: {
      main: routes.main,
      api: [
        ...routes.api,
        ...recordRoutes(saved),
        ...stateRoutes(saved),
        ...listRoutes(listing),
        ...portableRoutes(parts, listing),
        pictureRoute(parts),
        ...configRoutes(use.configuration, use.events),
      ],
    },
    // The job finds what a crash made the event miss.
    jobs: [
      {
        id: "models.orphaned",
        title: "Removes or hands over models of deleted accounts",
        every: 3600,
        run: clearOrphaned,
      },
    ],
    async start(): Promise<void> {
      await records.refresh();
      announceFailedCalls(events);
      events.on("user.deleted", clearOrphaned);
    },
  };
}

/** The model with its calls counted; the same one for the same model. */
function createMetered(ended: (call: ModelCall) => void): (model: ResolvedModel) => ResolvedModel {
  const known = new WeakMap<ResolvedModel, ResolvedModel>();
  return (model) => {
    let metered = known.get(model);
    if (metered === undefined) {
      metered = { ...model, provider: meterProvider(model.provider, model.id, ended) };
      known.set(model, metered);
    }
    return metered;
  };
}

function toParts({ config, db, transaction, log, signal, use }: Context): ModelParts {
  const { access, accounts, files, grants, events } = use;
  const permit = createPermit(access, () => config.bypassAccess);
  const records = createModelRecords({ db, grants, log, signal });
  const failing = new FailingModels(events);
  const catalogue = createCatalogue({
    records,
    permit,
    provided: createProvidedIndex(use.declarations.providers),
    addons: () => use.addons.list(),
    isFailing: (modelId) => failing.has(modelId),
    settings: () => config,
  });
  const loader = access.loader({
    type: resourceType,
    find: (id) => findRow(db, id),
    ownerOf: (row) => row.user_id || null,
    // BYPASS_MODEL_ACCESS_CONTROL opens models to read, never to change.
    reachable: async (principal: Principal, _row, action) => action === "read" && permit.all(principal),
  });
  const references = createReferenceCheck({ files, references: use.references, passes: access.passes });
  const record: Audit["record"] = async (entry, tx) => await use.audit?.record(entry, tx);
  const services = { access, accounts, files, grants, events, record };
  return { ...services, db, transaction, log, records, permit, catalogue, references, loader };
}

/** Reads the records anew when models, grants, accounts or groups change: all of them decide about access. */
async function followChanges(notices: Notices, records: ModelRecords): Promise<void> {
  await notices.listen(modelsChannel, records.follow, records.follow);
  await notices.listen(
    GRANTS_CHANNEL,
    (payload) => {
      const { type } = (payload ?? {}) as { type?: string };
      if (type === undefined || type === resourceType) {
        records.follow();
      }
    },
    records.follow,
  );
}

/** Lets users of a model read the files that show it. */
function toFileReference(records: ModelRecords, permit: Permit): FileReferences {
  return {
    id: "models",
    async isReachable(principal, fileId, action) {
      return (
        action === "read" &&
        recordsWithFile(await records.fresh(), fileId).some((record) => permit.record(principal, record))
      );
    },
  };
}
