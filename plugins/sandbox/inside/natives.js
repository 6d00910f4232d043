// Built-ins as they are before they are guarded, for values that the bridge made itself.
export const NativeProxy = Proxy;
export const { parse, stringify } = JSON;
export const { includes, indexOf, slice, split } = String.prototype;
export const { join } = Array.prototype;
export const { freeze: nativeFreeze, keys: nativeKeys } = Object;
