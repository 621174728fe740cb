import { randomUUID } from 'node:crypto';
import type { TagType } from '../../lib/api/schemas.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { listEvents, searchEvents } from '../../lib/events/contract.ts';
import { createEventRecorder } from '../../lib/events/event-recorder.ts';
import { saveEvent } from '../../lib/events/event-table.ts';
import { splitIntoChunks } from '../../lib/foundation/batches.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { callWithSecretKey } from '../../testing/call.ts';

interface EventInput {
  /** `receipt.validated` by default. */
  readonly type?: string;
  /** Epoch milliseconds; now by default. */
  readonly date?: number;
  readonly tags?: Readonly<Record<string, TagType>>;
  /** Empty for a request without one. Its event id is then its request id. */
  readonly reqId?: string;
  /** Body of the recorded request. */
  readonly body?: object;
  /** Number of recorded calls to a store. */
  readonly storeCalls?: number;
}

/** Records the event of a validation as the endpoint does, and returns its id. */
export async function givenEvent(
  { appName }: IssuedApiKeys,
  {
    type = 'receipt.validated',
    date = Date.now(),
    tags = {},
    reqId = `req-${randomUUID()}`,
    body = {},
    storeCalls = 0,
  }: EventInput = {},
): Promise<string> {
  const recorder = createEventRecorder({ type, date, reqId });
  for (const [tag, type] of Object.entries(tags)) recorder.addTag(tag, type);
  for (let number = 0; number < storeCalls; number++) {
    const timing = { startedAt: date + number, endedAt: date + number + 1 };
    recorder.addExternalCall({ type: 'store', url: `https://store.example/${randomUUID()}`, method: 'GET', timing });
  }
  const { event, raw } = recorder.finish({
    request: { method: 'POST', route: '/v1/validate', body },
    outcome: { status: 200, ok: true },
    response: { ok: true, data: { transaction: { type: 'ios-store', transactionId: '1' } } },
  });
  await saveEvent(getService(), appName, event, raw);
  return event.eventId;
}

/** Records reads, one in each millisecond from `start`. */
export async function givenReads(
  keys: IssuedApiKeys,
  { start, count, tags = {} }: Pick<EventInput, 'tags'> & { readonly start: number; readonly count: number },
): Promise<void> {
  const reads = Array.from({ length: count }, (_, index) => ({ type: 'customer.read', date: start + index, tags }));
  for (const batch of splitIntoChunks(reads, 100))
    await Promise.all(batch.map(async (read) => await givenEvent(keys, read)));
}

/** Calls `GET /v3/events`. `ids` are the event ids of the rows. */
export async function fetchEventList(keys: IssuedApiKeys, query: Record<string, string> = {}) {
  const { status, body } = await callWithSecretKey(listEvents, keys, { query });
  const ids: string[] = (body.rows ?? []).map(({ eventId }: { eventId: string }) => eventId);
  return { status, body, ids };
}

/** Calls `GET /v3/search/:tag`. `ids` are the event ids of the rows. */
export async function searchByTag(keys: IssuedApiKeys, tag: string, query: Record<string, string> = {}) {
  const { status, body } = await callWithSecretKey(searchEvents, keys, { params: { tag }, query });
  const ids: string[] = (body.rows ?? []).map(({ eventId }: { eventId: string }) => eventId);
  return { status, body, ids };
}

/** Calls `GET /v3/search/:tag` until the last page, and returns the event ids of each page. */
export async function searchPages(keys: IssuedApiKeys, tag: string): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined = '';
  do {
    const page: Awaited<ReturnType<typeof searchByTag>> = await searchByTag(keys, tag, { cursor });
    pages.push(page.ids);
    cursor = page.body.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

/** Calls `GET /v3/search/:tag` and returns the rows. */
// biome-ignore lint/suspicious/noExplicitAny: tests read rows of every shape.
export const findEvents = async (keys: IssuedApiKeys, tag: string): Promise<any> =>
  (await callWithSecretKey(searchEvents, keys, { params: { tag } })).body.rows;
