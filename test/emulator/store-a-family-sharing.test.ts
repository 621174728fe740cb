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

let user: EmulatorClient;
beforeAll(async () => {
  user = await startEmulatorClient();
});
afterAll(() => user.close());

const active = { status: 1, renewal: { autoRenewStatus: 1 } };

describe('family sharing', () => {
  const share = async (ownerSteps: readonly Step[] = []) => {
    const { id } = await runHistory(user, []);
    const { body } = await user.act(id, 'share', { applicationUsername: 'kid' });
    await runSteps(user, id, ownerSteps);
    return { owner: id, body };
  };

  it('gives a member a purchase of their own that nobody paid and no user is named in', async () => {
    const { owner, body } = await share();
    expect(body).toMatchObject({ sharedFrom: owner, state: 'ACTIVE', applicationUsername: 'kid' });
    expect(body.notifications.map(formatNotificationType)).toEqual(['SUBSCRIBED/INITIAL_BUY']);
    expect(body.validate.additionalData.applicationUsername).toBe('kid');
    const transaction = decodePayload(body.validate.transaction.jwsRepresentation);
    expect(transaction).toMatchObject({ inAppOwnershipType: 'FAMILY_SHARED', price: 0, expiresDate: monthEnd });
    expect(transaction.originalTransactionId).toBe(body.id);
    expect(transaction).not.toHaveProperty('appAccountToken');
    expect((await fetchSubscriptionStatus(user, body.id)).renewal).not.toHaveProperty('appAccountToken');
  });

  test.each<[string, readonly Step[], object]>([
    ['renews', [['renew']], { status: 1, transaction: { expiresDate: nextMonthEnd, price: 0 } }],
    ['expires', ['P1M'], { status: 2 }],
    ['is bought again', ['P2M', ['renew']], { status: 1 }],
    ['fails to be paid', [['fail-payment']], { status: 4 }],
    ['is refunded', [['refund']], { status: 5, transaction: { revocationType: 'FAMILY_REVOKE' } }],
  ])("follows when the owner's purchase %s", async (_name, ownerSteps, expected) => {
    const { body } = await share(ownerSteps);
    expect(await fetchSubscriptionStatus(user, body.id)).toMatchObject(expected);
  });

  it('does not end when an old transaction of the owner is refunded', async () => {
    const { owner, body } = await share([['renew']]);
    await runSteps(user, owner, [['refund', { transactionId: owner }]]);
    expect(await fetchSubscriptionStatus(user, body.id)).toMatchObject(active);
  });

  it('can be taken from a member alone, and nothing else', async () => {
    const { owner, body } = await share();
    expect(await user.act(body.id, 'renew')).toMatchObject({ status: 422 });
    expect((await user.act(body.id, 'revoke')).body.notifications.map(formatNotificationType)).toEqual(['REVOKE']);
    expect(await fetchSubscriptionStatus(user, body.id)).toMatchObject({
      status: 5,
      transaction: { revocationType: 'FAMILY_REVOKE' },
    });
    expect(await fetchSubscriptionStatus(user, owner)).toMatchObject(active);
  });

  it('is not for consumables', async () => {
    const { body } = await user.buy({ productId: 'coins', type: 'consumable' });
    expect(await user.act(body.id, 'share', { applicationUsername: 'kid' })).toMatchObject({ status: 422 });
  });
});
