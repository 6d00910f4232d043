// The host functions of a call.

/** The `host` of one call. It is bound to that call, so that nobody else's rights can be used through it. */
function toHost(call) {
  const get = (_, name) => {
    if (typeof name !== "string" || name === "then") {
      return undefined;
    }
    return name === "log" ? log : (...args) => ask(call, name, args);
  };
  const target = { __proto__: null };
  for (let at = 0; at < call.names.length; at++) {
    target[call.names[at]] = true;
  }
  return new Proxy_(freeze({ __proto__: null }), {
    __proto__: null,
    get,
    has: (_, name) => name === "log" || target[name] === true,
  });
}

function ask(call, name, args) {
  if (!call.live) {
    return rejected(new Error_(`host.${name} was called after the call had ended.`));
  }
  if (!has(call.names, name)) {
    return rejected(new Error_(`host.${name} is not available here.`));
  }
  if (call.waiting >= maxPending) {
    return rejected(new Error_(`More than ${maxPending} host calls wait for their answers.`));
  }
  let text;
  try {
    text = stringify(args);
  } catch (error) {
    return rejected(error);
  }
  const at = ++serial;
  call.waiting++;
  return new Promise_((resolve, reject) => {
    call.pending[at] = { resolve, reject };
    send("host", call.id, text, name, at);
  });
}

function has(names, name) {
  for (let at = 0; at < names.length; at++) {
    if (names[at] === name) {
      return true;
    }
  }
  return false;
}
