import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { decodePayload, type EmulatorClient, startEmulatorClient } from './emulator-client.ts';
import {
  fetchSubscriptionStatus,
  formatNotificationType,
  monthEnd,
  nextMonthEnd,
  runHistory,
  runSteps,
  type Step,
} from './random-histories.ts';

let client: EmulatorClient;
beforeAll(async () => {
  client = await startEmulatorClient();
});
afterAll(() => client.close());

const active = { status: 1, renewal: { autoRenewStatus: 1 } };

describe('family sharing (App Store)', () => {
  const share = async (ownerSteps: readonly Step[] = []) => {
    const { id } = await runHistory(client, []);
    const { body } = await client.act(id, 'share', { applicationUsername: 'kid' });
    await runSteps(client, id, ownerSteps);
    return { owner: id, body };
  };

  it('creates a separate purchase without price and account token for the member', async () => {
    const { owner, body } = await share();
    expect(body).toMatchObject({ sharedFrom: owner, state: 'ACTIVE', applicationUsername: 'kid' });
    expect(body.notifications.map(formatNotificationType)).toEqual(['SUBSCRIBED/INITIAL_BUY']);
    expect(body.validate.additionalData.applicationUsername).toBe('kid');
    const transaction = decodePayload(body.validate.transaction.jwsRepresentation);
    expect(transaction).toMatchObject({ inAppOwnershipType: 'FAMILY_SHARED', price: 0, expiresDate: monthEnd });
    expect(transaction.originalTransactionId).toBe(body.id);
    expect(transaction).not.toHaveProperty('appAccountToken');
    expect((await fetchSubscriptionStatus(client, body.id)).renewal).not.toHaveProperty('appAccountToken');
  });

  test.each<[string, readonly Step[], object]>([
    ['renews', [['renew']], { status: 1, transaction: { expiresDate: nextMonthEnd, price: 0 } }],
    ['expires', ['P1M'], { status: 2 }],
    ['is bought again', ['P2M', ['renew']], { status: 1 }],
    ['has a failed payment', [['fail-payment']], { status: 4 }],
    ['is refunded', [['refund']], { status: 5, transaction: { revocationType: 'FAMILY_REVOKE' } }],
  ])("changes the share when the owner's purchase %s", async (_name, ownerSteps, expected) => {
    const { body } = await share(ownerSteps);
    expect(await fetchSubscriptionStatus(client, body.id)).toMatchObject(expected);
  });

  it('keeps the share if an old transaction of the owner is refunded', async () => {
    const { owner, body } = await share([['renew']]);
    await runSteps(client, owner, [['refund', { transactionId: owner }]]);
    expect(await fetchSubscriptionStatus(client, body.id)).toMatchObject(active);
  });

  it('supports only revoke for a share', async () => {
    const { owner, body } = await share();
    expect(await client.act(body.id, 'renew')).toMatchObject({ status: 422 });
    expect((await client.act(body.id, 'revoke')).body.notifications.map(formatNotificationType)).toEqual(['REVOKE']);
    expect(await fetchSubscriptionStatus(client, body.id)).toMatchObject({
      status: 5,
      transaction: { revocationType: 'FAMILY_REVOKE' },
    });
    expect(await fetchSubscriptionStatus(client, owner)).toMatchObject(active);
  });

  it('rejects sharing a consumable', async () => {
    const { body } = await client.buy({ productId: 'coins', type: 'consumable' });
    expect(await client.act(body.id, 'share', { applicationUsername: 'kid' })).toMatchObject({ status: 422 });
  });
});
