import { indexes, type Key, timestampRange, toKey, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { dueIndexKeys } from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import { type CursorPage, readCursorPage } from '../foundation/read-cursor-page.ts';
import type { Service } from '../foundation/service.ts';
import type { Item } from '../foundation/table.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { buildUpdate, tryUpdate, tryWrite, updateVersioned } from '../foundation/updates.ts';
import type { StoreRefundRequest } from '../stores/refund-request.ts';
import { getAnswerEnd, RefundDecision, RefundRequest, type RefundRequestState } from './refund-request.ts';

const maxScanned = 1_000;

/** Longer than stores repeat a notification: App Store 6 days, Google Play 7 days. */
const decisionRetentionMs = 30 * dayMs;

const parseRequest = (item: Item): RefundRequest => parse(RefundRequest, item, 'DatabaseError');

export async function findRefundRequest(
  { table }: Service,
  appName: string,
  requestId: string,
): Promise<RefundRequest | undefined> {
  const key = keys.parseRefundRequestId(appName, requestId);
  const item = key && (await table.get(key));
  return item && parseRequest(item);
}

/** Returns the latest request for a payment. `transactionId` has a platform prefix. */
export async function findLatestRefundRequest(
  { table }: Service,
  appName: string,
  transactionId: string,
): Promise<RefundRequest | undefined> {
  const partition = keys.refundRequestKey.partition(appName, keys.toPaymentDigest(transactionId));
  const range = { partition, prefix: keys.refundRequestKey.sortKey(), newestFirst: true, limit: 1 };
  const [item] = await table.query(range);
  return item && parseRequest(item);
}

/**
 * Creates the request after `latest`, the latest one of its payment. Returns undefined if another one was created
 * since.
 */
export async function createRefundRequest(
  { table }: Service,
  appName: string,
  request: StoreRefundRequest & Pick<RefundRequest, 'outcome' | 'outcomeAt' | 'dueAt' | 'eventId'>,
  latest: RefundRequest | undefined,
): Promise<RefundRequest | undefined> {
  const number = latest ? Number(latest.requestId.slice(-4)) + 1 : 1;
  const requestId = keys.toRefundRequestId({
    digest: keys.toPaymentDigest(request.transactionId),
    number: String(number).padStart(4, '0'),
  });
  const created: RefundRequest = { requestId, ...request, version: 1 };
  const Item = { ...requireKey(appName, requestId), ...created, ...toIndexKeys(appName, created) };
  const put = { TableName: table.name, Item, ConditionExpression: 'attribute_not_exists(pk)' };
  return (await tryWrite(async () => await table.transact([{ Put: put }]))) ? created : undefined;
}

/**
 * Replaces the request with what `change` returns for the stored one. Calls `change` again if another writer
 * interferes. Returns undefined if the request does not exist. A result equal to the argument is not written.
 */
export const updateRefundRequest = async (
  service: Service,
  appName: string,
  requestId: string,
  change: (request: RefundRequest) => RefundRequest,
): Promise<RefundRequest | undefined> =>
  await updateVersioned(
    async () => await findRefundRequest(service, appName, requestId),
    change,
    async (request) => await replace(service, appName, request),
  );

/** Returns false if another writer has changed the request. The lease of a due request does not change its version. */
async function replace({ table }: Service, appName: string, request: RefundRequest): Promise<boolean> {
  const { answer, rejection, outcome, outcomeAt, dueAt, version } = request;
  const fields = { answer, rejection, outcome, outcomeAt, dueAt, version, ...toIndexKeys(appName, request) };
  const condition = { expression: 'version = :before', values: { ':before': version - 1 } };
  return await tryUpdate(table, buildUpdate(requireKey(appName, request.requestId), fields, condition));
}

export async function findRefundDecision(
  { table }: Service,
  appName: string,
  transactionId: string,
): Promise<RefundDecision | undefined> {
  const item = await table.get(keys.refundDecisionKey(appName, keys.toPaymentDigest(transactionId)));
  return item && parse(RefundDecision, item, 'DatabaseError');
}

/** Stores a decision about a payment, unless a later one is stored. */
export async function saveRefundDecision(
  { table }: Service,
  appName: string,
  transactionId: string,
  { outcome, outcomeAt }: RefundDecision,
): Promise<void> {
  const fields = { outcome, outcomeAt, ttl: toTtl(outcomeAt + decisionRetentionMs) };
  const condition = {
    expression: 'attribute_not_exists(pk) OR outcomeAt < :outcomeAt',
    values: { ':outcomeAt': outcomeAt },
  };
  await tryUpdate(
    table,
    buildUpdate(keys.refundDecisionKey(appName, keys.toPaymentDigest(transactionId)), fields, condition),
  );
}

interface RefundRequestQuery {
  state?: RefundRequestState | undefined;
  limit: number;
  /** The position of the previous page. */
  cursor?: string | undefined;
  now: EpochMillis;
}

/** Lists a page, newest first. With a state: by the end of the time for a statement, or by its date. */
export const listRefundRequestPage = async (
  { table }: Service,
  appName: string,
  { state, now, ...page }: RefundRequestQuery,
): Promise<CursorPage<RefundRequest>> =>
  await readCursorPage<{ sortKey: string; key: Key }, RefundRequest>(
    {
      readBefore: async (position, limit) => {
        const { index, ...range } = selectList(appName, state, { now, position });
        const items = await table.query({ ...range, index, newestFirst: true, limit: limit + 1 });
        return items
          .map((item) => ({ sortKey: String(item[indexes[index].sk]), key: toKey(item) }))
          .filter(({ sortKey }) => sortKey !== position)
          .slice(0, limit);
      },
      load: async (entries) => {
        const items = await table.batchGet(entries.map(({ key }) => key));
        const byKey = new Map(items.map((item) => [String(item.pk) + item.sk, parseRequest(item)]));
        return entries.map(({ key }) => byKey.get(key.pk + key.sk));
      },
    },
    { ...page, maxScanned },
  );

/** Selects the list of a state. Requests without a statement sort by the end of the time for it. */
function selectList(
  appName: string,
  state: RefundRequestState | undefined,
  { now, position }: { now: EpochMillis; position: string | undefined },
) {
  const [from, until] = timestampRange(
    {
      ...(state === 'open' && { startdate: now + 1 }),
      ...(state === 'expired' && { enddate: now + 1 }),
    },
    position,
  );
  const between: [string, string] = until > from ? [from, until] : [from, from];
  if (state === undefined)
    return { index: 'byCreated', partition: keys.refundRequestListKeys.partition(appName), between } as const;
  const partition = keys.refundRequestStateKeys.partition(appName, toListState(state === 'answered'));
  return { index: 'byKey', partition, between } as const;
}

/** Returns when the customer consented to statements about refunds. Undefined without consent. */
export async function findRefundConsent(
  { table }: Service,
  appName: string,
  username: string,
): Promise<EpochMillis | undefined> {
  const item = await table.get(keys.refundConsentKey(appName, username));
  return typeof item?.consentedAt === 'number' ? item.consentedAt : undefined;
}

/** Stores the consent of the customer. Undefined withdraws it. */
export async function saveRefundConsent(
  { table }: Service,
  appName: string,
  username: string,
  consentedAt: EpochMillis | undefined,
): Promise<void> {
  const key = keys.refundConsentKey(appName, username);
  if (consentedAt === undefined) await table.batchDelete([key]);
  else await table.batchPut([{ ...key, consentedAt }]);
}

function requireKey(appName: string, requestId: string): Key {
  const key = keys.parseRefundRequestId(appName, requestId);
  if (!key) throw new Error(`${requestId} is not the id of a refund request.`);
  return key;
}

const toListState = (isAnswered: boolean): string => (isAnswered ? 'replied' : 'waiting');

/** Index keys of the lists, and of the next step if there is one. */
function toIndexKeys(appName: string, request: RefundRequest): Item {
  const { requestId, requestedAt, answer, dueAt } = request;
  const date = answer ? answer.answeredAt : getAnswerEnd(request);
  return {
    ...keys.refundRequestListKeys(appName, requestedAt, requestId),
    ...keys.refundRequestStateKeys(appName, toListState(answer !== undefined), date, requestId),
    ...(dueAt === undefined
      ? { duePk: undefined, dueSk: undefined }
      : dueIndexKeys(requireKey(appName, requestId), dueAt)),
  };
}
