import { beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { type CustomerClaim, getCustomerClaims } from '../../lib/customers/claim-contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { hourMs } from '../../lib/foundation/time.ts';
import { recordPurchase } from '../../lib/purchases/record-purchase.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, startDate } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { buildLinkInput, recordObservation } from '../../testing/purchase-inputs.ts';
import { createTestTable } from '../../testing/table.ts';

beforeAll(async () => {
  await createTestTable();
});

/** Records a validation of the purchase by the customer. The first customer who claims it owns it. */
async function givenClaim({ appName }: IssuedApiKeys, username: string, number: number, now = startDate) {
  const purchaseId = `store_a:${number}`;
  const observation = createObservation({ purchaseId, transactionId: purchaseId });
  const changes = { strategy: 'first', now: now + number * hourMs } as const;
  await recordObservation(getService(), appName, { username, observation, ...changes });
}

async function fetchPage(keys: IssuedApiKeys, query: Record<string, string> = {}) {
  const params = { applicationUsername: 'ann' };
  const { status, body } = await callWithSecretKey(getCustomerClaims, keys, { params, query });
  expect(status).toBe(200);
  return body as { readonly rows: readonly CustomerClaim[]; readonly nextCursor?: string };
}

/** Reads all pages. Returns the numbers of the purchases. */
async function fetchNumbers(keys: IssuedApiKeys, query: Record<string, string>): Promise<number[]> {
  const numbers: number[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page = await fetchPage(keys, { ...query, cursor });
    numbers.push(...page.rows.map(({ purchaseId }) => Number(purchaseId.replace('store_a:', ''))));
    cursor = page.nextCursor;
  }
  return numbers;
}

describe('GET /v3/customers/:applicationUsername/claims', () => {
  it('returns each claim with the purchase and whether the customer owns it, newest first', async () => {
    const keys = await givenApp(getService().table);
    await givenClaim(keys, 'bob', 1);
    await givenClaim(keys, 'ann', 1, startDate + hourMs);
    await givenClaim(keys, 'ann', 3);
    const claim = { productId: 'store_a:monthly', platform: 'store_a', source: 'validation' };
    const [first, second] = [2, 3].map((hour) => new Date(startDate + hour * hourMs).toISOString());
    expect(await fetchPage(keys)).toEqual({
      applicationUsername: 'ann',
      rows: [
        { ...claim, purchaseId: 'store_a:3', isEntitled: true, firstClaimedAt: second, lastClaimedAt: second },
        { ...claim, purchaseId: 'store_a:1', isEntitled: false, firstClaimedAt: first, lastClaimedAt: first },
      ],
    });
  });

  it('selects the claims on purchases that the customer owns or does not own, in pages', async () => {
    const keys = await givenApp(getService().table);
    for (let number = 0; number < 12; number++) {
      if (number % 3 === 0) await givenClaim(keys, 'bob', number);
      await givenClaim(keys, 'ann', number, startDate + 1);
    }
    const notOwned = [9, 6, 3, 0];
    const owned = [11, 10, 8, 7, 5, 4, 2, 1];
    for (const limit of ['1', '3', '50']) {
      expect(await fetchNumbers(keys, { limit, isEntitled: 'false' })).toEqual(notOwned);
      expect(await fetchNumbers(keys, { limit, isEntitled: 'true' })).toEqual(owned);
      expect(await fetchNumbers(keys, { limit })).toEqual([...notOwned, ...owned].sort((a, b) => b - a));
    }
    expect((await fetchPage(keys, { limit: '3', isEntitled: 'false' })).nextCursor).toBeDefined();
    expect((await fetchPage(keys, { limit: '4', isEntitled: 'false' })).nextCursor).toBeUndefined();
  });

  it('returns the source of a manual link, and the loss of the former owner', async () => {
    const keys = await givenApp(getService().table);
    await givenClaim(keys, 'ann', 1);
    await recordPurchase(getService(), keys.appName, 'store_a:1', buildLinkInput('bob'));
    expect((await fetchPage(keys)).rows).toMatchObject([{ isEntitled: false, source: 'validation' }]);
    await recordPurchase(getService(), keys.appName, 'store_a:1', buildLinkInput('ann', startDate + 48 * hourMs));
    expect((await fetchPage(keys)).rows).toMatchObject([{ isEntitled: true, source: 'manual' }]);
  });

  it('rejects an unknown value of isEntitled and an invalid cursor', async () => {
    const keys = await givenApp(getService().table);
    for (const query of [{ isEntitled: 'yes' }, { cursor: 'x' }]) {
      const response = await callWithSecretKey(getCustomerClaims, keys, {
        params: { applicationUsername: 'ann' },
        query,
      });
      expect(response).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
    }
  });
});
