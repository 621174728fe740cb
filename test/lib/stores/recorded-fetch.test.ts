import { afterEach, describe, expect, it } from '@jest/globals';
import type { ExternalCall } from '../../../lib/events/event.ts';
import { createRecordedFetch } from '../../../lib/stores/recorded-fetch.ts';
import { type HttpServer, startHttpServer } from '../../../local/http-server.ts';

let server: HttpServer | undefined;
afterEach(async () => {
  await server?.close();
});

describe('createRecordedFetch', () => {
  it('aborts a call at its timeout on the stopwatch, throws ConnectionFailed and records the error', async () => {
    const aborting = new AbortController();
    const timeoutsMs: number[] = [];
    const stopwatch = {
      readMs: () => 0,
      abortAfter: (durationMs: number) => {
        timeoutsMs.push(durationMs);
        return aborting.signal;
      },
    };
    // The store accepts the call and sends no response.
    const reason = Object.assign(new Error('The time is up.'), { name: 'TimeoutError' });
    server = await startHttpServer(() => aborting.abort(reason));
    const calls: ExternalCall[] = [];
    const fetch = createRecordedFetch({
      storeName: 'The store',
      record: (call) => calls.push(call),
      now: () => 0,
      stopwatch,
    });
    await expect(fetch(server.url, { timeoutMs: 4_500 })).rejects.toMatchObject({ code: 'ConnectionFailed' });
    expect(timeoutsMs).toEqual([4_500]);
    expect(calls).toMatchObject([{ method: 'GET', error: { message: 'TimeoutError' } }]);
  });
});
