import type { ActionItem, FilterItem, ModelAddons } from "#plugins/models/service.ts";
import type { ActiveFunction, ActiveFunctions, ActiveSet } from "./active.ts";
import { isForModel } from "./filters.ts";

const nothing = { actions: [], filters: [] };

/** Offers beside models: actions, and the filters that people switch on themselves (contract 2.1). */
export function createAddons(active: ActiveFunctions, isEnabled: () => boolean): ModelAddons {
  // The list goes on with what was there when it began, whatever changes meanwhile.
  let set: ActiveSet | undefined;
  return {
    ready: async () => {
      set = isEnabled() ? await active.current() : undefined;
    },
    of({ meta }) {
      if (set === undefined) {
        return nothing;
      }
      const { action, filter } = set.ofType;
      return {
        actions: action.filter((fn) => isForModel(fn, meta, "actionIds")).flatMap(toActionItems),
        filters: filter
          .filter((fn) => fn.facts.toggle && isForModel(fn, meta, "filterIds"))
          .map(toFilterItem),
      };
    },
  };
}

function toActionItems(fn: ActiveFunction): ActionItem[] {
  const { description, icon, items } = fn.facts;
  return Array.isArray(items)
    ? items.map((item) => ({
        id: `${fn.id}.${item.id}`,
        name: item.name,
        description,
        icon: item.icon ?? icon,
      }))
    : [{ id: fn.id, name: fn.name, description, icon }];
}

function toFilterItem(fn: ActiveFunction): FilterItem {
  const { description, icon, userValves } = fn.facts;
  return { id: fn.id, name: fn.name, description, icon, has_user_valves: userValves !== undefined };
}
