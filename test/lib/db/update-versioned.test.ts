import { beforeAll, describe, expect, it } from '@jest/globals';
import { createGrantIfAbsent, findGrant, updateGrant } from '../../../lib/entitlements/grant-table.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import {
  createRefundRequest,
  findRefundRequest,
  updateRefundRequest,
} from '../../../lib/refunds/refund-request-table.ts';
import { createUniqueName } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

const author = { id: 'key', name: 'main' };
const concurrently = async <T>(run: () => Promise<T>): Promise<T[]> =>
  await Promise.all(Array.from({ length: 40 }, run));

describe('updateVersioned', () => {
  it('applies each of 40 concurrent changes of a grant', async () => {
    const [appName, username] = [createUniqueName(), createUniqueName('user')];
    const grantId = 'grant_1';
    const grant = { grantId, username, entitlement: 'pro', reason: 'tester', createdAt: 1, createdBy: author };
    await createGrantIfAbsent({ table }, appName, { ...grant, until: 1_000, version: 1 });
    await concurrently(
      async () =>
        await updateGrant({ table }, appName, { username, grantId }, ({ until = 0, ...rest }) => ({
          ...rest,
          until: until + 1,
        })),
    );
    expect(await findGrant({ table }, appName, { username, grantId })).toMatchObject({ until: 1_040, version: 41 });
  });

  it('applies each of 40 concurrent changes of a refund request', async () => {
    const appName = createUniqueName();
    const created = await createRefundRequest(
      { table },
      appName,
      {
        platform: 'store_a',
        purchaseId: 'store_a:1',
        transactionId: 'store_a:1',
        requestedAt: 1,
        deadline: 1_000,
        dueAt: 100,
        sandbox: false,
        reason: 'tester',
        reference: {},
      },
      undefined,
    );
    const requestId = created?.requestId ?? '';
    await concurrently(
      async () =>
        await updateRefundRequest({ table }, appName, requestId, (request) => ({
          ...request,
          dueAt: (request.dueAt ?? 0) + 1,
        })),
    );
    expect(await findRefundRequest({ table }, appName, requestId)).toMatchObject({ dueAt: 140, version: 41 });
  });
});
