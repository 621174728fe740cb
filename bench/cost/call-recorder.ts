import { request as sendRequest } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { startHttpServer } from '../../local/http-server.ts';

/** The other side of a call, which decides how long a function waits for it. */
export type CallTarget = 'table' | 'queue' | 'secret' | 'store' | 'webhook';

/** A call of a function. Times are of `performance.now()`. */
export interface RecordedCall {
  readonly target: CallTarget;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Bytes of the request line, the headers and the body. */
  readonly requestBytes: number;
}

/** Forwards calls and records them. */
export interface CallRecorder {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a server that forwards all calls to `url`, after `delayMs`, and passes each one to `onCall`. */
export const startCallRecorder = async (
  target: CallTarget,
  url: string,
  { onCall, delayMs }: { readonly onCall: (call: RecordedCall) => void; readonly delayMs: number },
): Promise<CallRecorder> =>
  await startHttpServer(async (incoming, response) => {
    const startedAt = performance.now();
    const { method = 'GET', url: path = '/', headers, rawHeaders } = incoming;
    const body = Buffer.concat(await incoming.toArray());
    if (delayMs > 0) await setTimeout(delayMs);
    const forwarded = await new Promise<{ status: number; headers: object; body: Buffer }>((resolve, reject) => {
      const outgoing = sendRequest(new URL(path, url), { method, headers }, async (result) => {
        resolve({
          status: result.statusCode ?? 500,
          headers: result.headers,
          body: Buffer.concat(await result.toArray()),
        });
      });
      outgoing.once('error', reject).end(body);
    });
    response.writeHead(forwarded.status, { ...forwarded.headers }).end(forwarded.body);
    const headBytes = Buffer.byteLength(`${method} ${path} HTTP/1.1\r\n${rawHeaders.join(': ')}\r\n\r\n`);
    onCall({
      target,
      startedAt,
      endedAt: performance.now(),
      requestBytes: headBytes + body.length,
    });
  });

/**
 * Computes the time that a function waits for its calls: the longest chain in which each call starts after the end of
 * the one before, with the latency of each target. Calls at the same time wait once.
 */
export function computeWaitMs(calls: readonly RecordedCall[], latencies: Readonly<Record<CallTarget, number>>): number {
  const ended: { readonly endedAt: number; readonly waitMs: number }[] = [];
  for (const { target, startedAt, endedAt } of calls.toSorted((a, b) => a.startedAt - b.startedAt)) {
    const earlier = ended.filter((call) => call.endedAt <= startedAt).map((call) => call.waitMs);
    ended.push({ endedAt, waitMs: Math.max(0, ...earlier) + latencies[target] });
  }
  return Math.max(0, ...ended.map(({ waitMs }) => waitMs));
}
