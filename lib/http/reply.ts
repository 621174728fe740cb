/** A response with its own status or headers. */
export interface Reply<T> {
  readonly body: T;
  readonly status?: 200 | 201;
  /** In addition to the headers of every response. Replaces `Cache-Control`. */
  readonly headers?: Readonly<Record<string, string>>;
}

const replies = new WeakSet<object>();

/** Creates the result of a handler whose response has its own status or headers. */
export function createReply<T>(reply: Reply<T>): Reply<T> {
  replies.add(reply);
  return reply;
}

/** Returns the reply of a handler, which can also return the body only. */
export const toReply = <T extends object>(result: T | Reply<T>): Reply<T> =>
  replies.has(result) ? (result as Reply<T>) : { body: result as T };
