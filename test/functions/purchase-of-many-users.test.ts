import { describe, expect, it } from '@jest/globals';
import type { Strategy } from '../../lib/apps/app.ts';
import { changeSettings } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { claimKey, purchaseKey } from '../../lib/foundation/keys.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

import { startNotificationFixture } from './notification-fixture.ts';

const fixture = startBeforeAll(startNotificationFixture);

/** Buys a subscription of the App Store for `owner`. `validateAs` validates its receipt for a user. */
async function givenSharedSubscription(strategy: Strategy = 'all') {
  const keys = await fixture.createNotifiedApp('store_a');
  await changeSettings(getService(), keys.appName, { strategy });
  const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription' };
  const { id, validate } = await fixture.callControl('/purchases', order);
  const validateAs = async (applicationUsername: string) =>
    (await fixture.validate(keys, { ...validate, additionalData: { applicationUsername } })).body;
  const { data } = await validateAs('owner');
  const purchaseId = `store_a:${data.collection[0].purchaseId}`;
  await fixture.processNotifications();
  return { keys, id, purchaseId, validateAs };
}

/** Stores claims of further users without the limit of bytes. Earlier versions of the service did so. */
async function addClaims(appName: string, purchaseId: string, usernames: readonly string[]): Promise<void> {
  const { table } = getService();
  const claimedAt = Date.now();
  const claims = usernames.map((username, index) => ({
    ...claimKey(appName, purchaseId, username),
    username,
    source: 'validation',
    firstClaimedAt: claimedAt + index,
    lastClaimedAt: claimedAt + index,
  }));
  await table.batchPut(claims);
  await table.update({
    Key: { ...purchaseKey(appName, purchaseId) },
    UpdateExpression: 'SET entitledUsers = list_append(entitledUsers, :users)',
    ExpressionAttributeValues: { ':users': usernames },
  });
}

/** Adds claims until the item of the purchase has nearly the maximum size of DynamoDB. */
async function fillItem(appName: string, purchaseId: string): Promise<void> {
  for (const bytes of [900, 899, 898, 512, 256, 128, 64, 32, 16, 8]) {
    await addClaims(appName, purchaseId, ['y'.repeat(bytes)]).catch(() => undefined);
  }
}

const buildLongNames = (count: number, bytes: number): string[] =>
  Array.from({ length: count }, (_, index) => `${index}-`.padEnd(bytes, 'x'));

describe('purchase that many users with long names claim', () => {
  it('accepts a refund by a store notification, and its owner reads it', async () => {
    const { keys, id, purchaseId, validateAs } = await givenSharedSubscription();
    await addClaims(keys.appName, purchaseId, buildLongNames(468, 870));
    await fillItem(keys.appName, purchaseId);
    await fixture.callControl(`/purchases/${id}/refund`, {});
    await fixture.processNotifications();
    const purchase = await fixture.fetchPurchase(keys, purchaseId);
    expect(purchase).toMatchObject({ isExpired: true });
    expect(await validateAs('owner')).toMatchObject({ ok: true, data: { collection: [{ isExpired: true }] } });
  });

  it('entitles the first users up to a number of bytes, and no later user', async () => {
    const { keys, purchaseId, validateAs } = await givenSharedSubscription();
    const names = buildLongNames(170, 900);
    await addClaims(keys.appName, purchaseId, names.slice(0, 160));
    for (const name of names.slice(160)) await validateAs(name);
    const { entitledUsers } = await fixture.fetchPurchase(keys, purchaseId);
    expect(entitledUsers.map((name: string) => name.slice(0, 5))).toEqual([
      'owner',
      ...names.slice(0, 166).map((name) => name.slice(0, 5)),
    ]);
    const response = await validateAs('late'.padEnd(900, 'x'));
    expect(response).toMatchObject({ ok: true, data: { collection: [] } });
    expect(await validateAs('owner')).toMatchObject({ ok: true, data: { collection: [{ isExpired: false }] } });
  });
});
