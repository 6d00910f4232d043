import { defineSlot } from "./service.ts";

/** A number of this process that goes up and down, such as a queue's depth; read only when somebody asks. */
export interface Gauge {
  /** In words joined by underscores; telemetry puts the product's name before it. */
  readonly name: string;
  /** One sentence: what is counted. */
  readonly help: string;
  read(): number;
}
export const gauges = defineSlot<Gauge>("kernel.gauges");
