import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Strategy } from '../../lib/apps/app.ts';
import { changeSettings } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { findPurchase } from '../../lib/purchases/purchase-table.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);

/** Buys a subscription. `validateAs` validates its receipt for a user. */
async function givenReceipt(strategy: Strategy) {
  const keys = await service.createApp(['store_b']);
  await changeSettings(getService(), keys.appName, { strategy });
  const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription' };
  const { validate } = await service.callControl('/purchases', order);
  const validateAs = async (applicationUsername: string) =>
    (await service.validate(keys, { ...validate, additionalData: { applicationUsername } })).body;
  const listUsers = async () =>
    (await findPurchase(getService(), keys.appName, `store_b:${validate.transaction.purchaseToken}`))?.entitledUsers;
  return { validateAs, listUsers };
}

// More than the 20 attempts of a validation.
const usernames = Array.from({ length: 24 }, (_, index) => `user-${index}`);

describe('parallel validations of one receipt', () => {
  it('succeed for exactly one of 24 users with the strategy "first"', async () => {
    const { validateAs, listUsers } = await givenReceipt('first');
    const responses = await Promise.all(usernames.map(validateAs));
    const owners = usernames.filter((_name, index) => responses[index].ok);
    expect(owners).toHaveLength(1);
    expect(await listUsers()).toEqual(owners);
  });
});

describe('validation of a purchase of another customer', () => {
  const lines: unknown[] = [];
  beforeEach(() => {
    lines.length = 0;
    for (const method of ['error', 'warn'] as const) {
      jest.spyOn(console, method).mockImplementation((entry: unknown) => void lines.push(entry));
    }
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('returns Conflict and logs nothing', async () => {
    const { validateAs } = await givenReceipt('first');
    expect(await validateAs('ann')).toMatchObject({ ok: true });
    expect(await validateAs('bob')).toMatchObject({ ok: false, code: 7691002, status: 409 });
    expect(lines).toEqual([]);
  });
});
