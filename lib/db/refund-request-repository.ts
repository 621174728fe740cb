import { buildUpdate } from '../foundation/build-update.ts';
import * as keys from '../foundation/keys.ts';
import { indexes } from '../foundation/keys.ts';
import { readCursorPage } from '../foundation/read-cursor-page.ts';
import type { Item, Table } from '../foundation/table.ts';
import { tryUpdate, tryWrite } from '../foundation/try-update.ts';
import { updateVersioned } from '../foundation/update-versioned.ts';
import {
  getAnswerEnd,
  RefundDecision,
  RefundRequest,
  type RefundRequestRepository,
  type RefundRequestState,
} from '../refund-requests/refund-request-repository.ts';
import { parse } from '../shared/parse.ts';
import { dayMs, type EpochMillis } from '../shared/time.ts';

const maxScanned = 1_000;

/** Longer than stores repeat a notification: App Store 6 days, Google Play 7 days. */
const decisionRetentionMs = 30 * dayMs;

export function createRefundRequestRepository(table: Table): RefundRequestRepository {
  const find: RefundRequestRepository['find'] = async (appName, requestId) => {
    const key = keys.parseRefundRequestId(appName, requestId);
    const item = key && (await table.get(key));
    return item && parse(RefundRequest, item, 'DatabaseError');
  };
  return {
    find,
    async findLatest(appName, transactionId) {
      const partition = keys.refundRequestPartition(appName, transactionId);
      const items = await table.query({
        partition,
        prefix: keys.refundRequestPrefix,
        newestFirst: true,
        limit: 1,
      });
      return items[0] && parse(RefundRequest, items[0], 'DatabaseError');
    },
    async create(appName, request, latest) {
      const number = latest ? Number(latest.requestId.slice(-4)) + 1 : 1;
      const requestId = keys.toRefundRequestId(request.transactionId, number);
      const created: RefundRequest = { requestId, ...request, version: 1 };
      const Item = { ...toKey(appName, requestId), ...created, ...toIndexKeys(appName, created) };
      const isCreated = await tryWrite(
        async () =>
          await table.transact([
            { Put: { TableName: table.name, Item, ConditionExpression: 'attribute_not_exists(pk)' } },
          ]),
      );
      return isCreated ? created : undefined;
    },
    update: async (appName, requestId, change) =>
      await updateVersioned(
        async () => await find(appName, requestId),
        change,
        async (request) => await replace(table, appName, request),
      ),
    async findDecision(appName, transactionId) {
      const item = await table.get(keys.refundDecisionKey(appName, transactionId));
      return item && parse(RefundDecision, item, 'DatabaseError');
    },
    async saveDecision(appName, transactionId, { outcome, outcomeAt }) {
      const fields = { outcome, outcomeAt, ttl: keys.toTtl(outcomeAt + decisionRetentionMs) };
      const condition = {
        expression: 'attribute_not_exists(pk) OR outcomeAt < :outcomeAt',
        values: { ':outcomeAt': outcomeAt },
      };
      await tryUpdate(table, buildUpdate(keys.refundDecisionKey(appName, transactionId), fields, condition));
    },
    async listPage(appName, { state, now, ...page }) {
      return await readCursorPage<{ readonly sortKey: string; readonly key: keys.Key }, RefundRequest>(
        {
          readBefore: async (position, limit) => {
            const { index, ...range } = selectList(appName, state, { now, position });
            const items = await table.query({ ...range, index, newestFirst: true, limit: limit + 1 });
            return items
              .map((item) => ({ sortKey: String(item[indexes[index].sk]), key: keys.toKey(item) }))
              .filter(({ sortKey }) => sortKey !== position)
              .slice(0, limit);
          },
          load: async (entries) => {
            const items = await table.batchGet(entries.map(({ key }) => key));
            const requests = items.map((item) => [
              String(item.pk) + item.sk,
              parse(RefundRequest, item, 'DatabaseError'),
            ]);
            const byKey = new Map(requests as [string, RefundRequest][]);
            return entries.map(({ key }) => byKey.get(key.pk + key.sk));
          },
        },
        { ...page, maxScanned },
      );
    },
    async findConsent(appName, username) {
      const item = await table.get(keys.refundConsentKey(appName, username));
      return typeof item?.consentedAt === 'number' ? item.consentedAt : undefined;
    },
    async setConsent(appName, username, consentedAt) {
      const key = keys.refundConsentKey(appName, username);
      if (consentedAt === undefined) await table.batchDelete([key]);
      else await table.batchPut([{ ...key, consentedAt }]);
    },
  };
}

function toKey(appName: string, requestId: string): keys.Key {
  const key = keys.parseRefundRequestId(appName, requestId);
  if (!key) throw new Error(`${requestId} is not the id of a refund request.`);
  return key;
}

/** Index keys of the lists, and of the next step if there is one. */
function toIndexKeys(appName: string, request: RefundRequest): Item {
  const { requestId, requestedAt, answer, dueAt } = request;
  const date = answer ? answer.answeredAt : getAnswerEnd(request);
  return {
    ...keys.refundRequestIndexKeys(appName, requestId, { requestedAt, isAnswered: answer !== undefined, date }),
    ...(dueAt === undefined
      ? { duePk: undefined, dueSk: undefined }
      : keys.dueIndexKeys(toKey(appName, requestId), dueAt)),
  };
}

/** Returns false if another writer has changed the request. The lease of a due request does not change its version. */
async function replace(table: Table, appName: string, request: RefundRequest): Promise<boolean> {
  const { answer, rejection, outcome, outcomeAt, dueAt, version } = request;
  const fields = { answer, rejection, outcome, outcomeAt, dueAt, version, ...toIndexKeys(appName, request) };
  const condition = { expression: 'version = :before', values: { ':before': version - 1 } };
  return await tryUpdate(table, buildUpdate(toKey(appName, request.requestId), fields, condition));
}

/** Selects the list of a state. Requests without a statement sort by the end of the time for it. */
function selectList(
  appName: string,
  state: RefundRequestState | undefined,
  { now, position }: { readonly now: EpochMillis; readonly position: string | undefined },
) {
  const [from, until] = keys.timestampRange(
    {
      ...(state === 'open' && { startdate: now + 1 }),
      ...(state === 'expired' && { enddate: now + 1 }),
    },
    position,
  );
  const between: [string, string] = until > from ? [from, until] : [from, from];
  if (state === undefined)
    return { index: 'byCreated', partition: keys.refundRequestListPartition(appName), between } as const;
  return {
    index: 'byKey',
    partition: keys.refundRequestStatePartition(appName, state === 'answered'),
    between,
  } as const;
}
