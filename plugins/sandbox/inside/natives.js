// Built-ins as they are before they are guarded: the ways of the host hand them what it made itself.
const NativeProxy = Proxy;
const { parse, stringify } = JSON;
const { includes, indexOf, slice, split } = String.prototype;
const { join } = Array.prototype;
const { freeze: nativeFreeze, keys: nativeKeys } = Object;
