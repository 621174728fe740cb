import { beforeAll, describe, expect, it } from '@jest/globals';
import { createGrantIfAbsent, findGrant, updateGrant } from '../../../lib/entitlements/grant-table.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import {
  createRefundRequest,
  findRefundRequest,
  updateRefundRequest,
} from '../../../lib/refunds/refund-request-table.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';

let service: Service;
beforeAll(async () => {
  service = createService(await createTestTable());
});

const author = { id: 'key', name: 'main' };
const concurrently = async <T>(run: () => Promise<T>): Promise<T[]> =>
  await Promise.all(Array.from({ length: 20 }, run));

describe('updateVersioned', () => {
  it('applies each of 20 concurrent changes of a grant', async () => {
    const [appName, username] = [createUniqueName(), createUniqueName('user')];
    const grantId = 'grant_1';
    const grant = { grantId, username, entitlement: 'pro', reason: 'tester', createdAt: 1, createdBy: author };
    await createGrantIfAbsent(service, appName, { ...grant, until: 1_000, version: 1 });
    await concurrently(
      async () =>
        await updateGrant(service, appName, { username, grantId }, ({ until = 0, ...rest }) => ({
          ...rest,
          until: until + 1,
        })),
    );
    expect(await findGrant(service, appName, { username, grantId })).toMatchObject({ until: 1_020, version: 21 });
  });

  it('applies each of 20 concurrent changes of a refund request', async () => {
    const appName = createUniqueName();
    const created = await createRefundRequest(
      service,
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
        await updateRefundRequest(service, appName, requestId, (request) => ({
          ...request,
          dueAt: (request.dueAt ?? 0) + 1,
        })),
    );
    expect(await findRefundRequest(service, appName, requestId)).toMatchObject({ dueAt: 120, version: 21 });
  });
});
