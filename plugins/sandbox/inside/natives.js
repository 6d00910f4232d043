// Built-ins as they are before they are guarded: the ways of the host hand them what it made itself.
export const NativeProxy = Proxy;
export const { parse, stringify } = JSON;
export const { includes, indexOf, slice, split } = String.prototype;
export const { join } = Array.prototype;
export const { freeze: nativeFreeze, keys: nativeKeys } = Object;
