import { describe, expect, it } from '@jest/globals';
import { storeCatalogue } from '../../../lib/apps/catalogue-table.ts';
import { give } from '../../../lib/credits/change-credits.ts';
import { getBalance } from '../../../lib/credits/credit-account.ts';
import { findAccount } from '../../../lib/credits/credit-table.ts';
import { addGrant } from '../../../lib/entitlements/manage-grants.ts';
import { creditEntryKey, grantKey, purchaseKey } from '../../../lib/foundation/keys.ts';
import { replayStreamFailures } from '../../../lib/stream-failures/replay-stream-failures.ts';
import { saveWebhook } from '../../../lib/webhooks/manage-webhooks.ts';
import { createObservation } from '../../../testing/given.ts';
import { createWebhookHarness, type WebhookHarness } from '../../../testing/webhook-harness.ts';
import { useApplicationServer } from '../webhooks/application-server-fixture.ts';
import { buildPurchase, purchaseId } from '../webhooks/purchase-updates.ts';

const getServer = useApplicationServer();
const key = { id: 'key', name: 'alice' };

/** Replays the failure of the fan-out worker at an item, and delivers the enqueued webhooks. */
async function replay({ service, keys, now, workUntil }: WebhookHarness, itemKey: { pk: string; sk: string }) {
  const failure = {
    worker: 'fan-out-webhooks',
    appName: keys.appName,
    key: { pk: itemKey.pk, sk: itemKey.sk },
    reason: 'the content: expected an object.',
    writtenAt: now,
  } as const;
  const outcomes = await replayStreamFailures(service, [failure], async () => {});
  await workUntil(now);
  return {
    problems: outcomes.map(({ problem }) => problem),
    webhooks: getServer().requests.map(({ body }) => JSON.parse(body)),
  };
}

describe('replayStreamFailures', () => {
  it('gives the credits of a purchase that could not be settled', async () => {
    const harness = await createWebhookHarness({ urls: [] });
    const { service, keys } = harness;
    const coins = { type: 'paid subscription', credits: { coins: 100 } } as const;
    await storeCatalogue(service, keys.appName, { 'store_a:monthly': coins });
    await harness.recordUpdate(purchaseId, buildPurchase('ann', { observation: createObservation() }));
    const readBalance = async () => {
      const { credits } = await findAccount(service, keys.appName, { username: 'ann', isSandbox: false });
      return credits.coins && getBalance(credits.coins);
    };
    expect(await readBalance()).toBeUndefined();
    expect((await replay(harness, purchaseKey(keys.appName, purchaseId))).problems).toEqual([undefined]);
    expect(await readBalance()).toBe(100);
  });

  it('creates the webhooks of a grant once', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const { appName } = harness.keys;
    const { grant } = await addGrant(
      harness.service,
      { entitlement: 'premium', reason: 'a mistake of ours' },
      { appName, username: 'ann', key },
    );
    const itemKey = grantKey(appName, 'ann', grant.grantId);
    const webhooks = [expect.objectContaining({ type: 'purchases.updated', applicationUsername: 'ann' })];
    expect(await replay(harness, itemKey)).toEqual({ problems: [undefined], webhooks });
    expect(await replay(harness, itemKey)).toEqual({ problems: [undefined], webhooks });
  });

  it('creates the webhook of a change of credits', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const { service, keys } = harness;
    const settings = {
      urls: [getServer().url],
      sandboxUrls: [],
      includesPassword: false,
      events: ['credits' as const],
    };
    await saveWebhook(service, keys.appName, settings, { newSecret: false });
    const change = { credit: 'coins', amount: 10, idempotencyKey: 'a', reason: 'a gift' };
    const { entryId } = await give(service, change, { appName: keys.appName, username: 'ann', isSandbox: false, key });
    expect(await replay(harness, creditEntryKey(keys.appName, 'ann', 'P', entryId))).toEqual({
      problems: [undefined],
      webhooks: [expect.objectContaining({ type: 'credits.updated', applicationUsername: 'ann' })],
    });
  });
});
