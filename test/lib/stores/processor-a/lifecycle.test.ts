import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { deps } from '../../../../lib/deps.ts';
import { type SoldService, startSoldService } from './checkout-fixture.ts';

let service: SoldService;
beforeAll(async () => {
  service = await startSoldService();
});
afterAll(() => service.close());

describe('a subscription', () => {
  it('renews, with a transaction more', async () => {
    const { id } = await service.buy();
    const first = await service.again(id);
    await service.callControl('/clock', { advance: 'P1M' });
    expect(await service.again(id)).toMatchObject({ ok: false, code: 6778003 });
    await service.act(id, 'renew');
    const second = await service.again(id);
    expect(second.data.collection[0].expiryDate).toBeGreaterThan(first.data.collection[0].expiryDate);
    expect(second.data.collection[0]).toHaveProperty('lastRenewalDate');
    expect(await deps().purchases.listTransactions(service.keys.appName, [`processor_a:${id}`])).toHaveLength(2);
  });

  it('goes on to its end when it was cancelled, and is expired then', async () => {
    const { id } = await service.buy();
    await service.act(id, 'cancel');
    const running = await service.again(id);
    expect(running.data.collection[0]).toMatchObject({ renewalIntent: 'Lapse', isExpired: false });
    expect(running.data.collection[0]).not.toHaveProperty('cancelationReason');
    await service.act(id, 'uncancel');
    expect((await service.again(id)).data.collection[0].renewalIntent).toBe('Renew');
    await service.act(id, 'cancel');
    await service.callControl('/clock', { advance: 'P1M' });
    expect(await service.again(id)).toMatchObject({ ok: false, code: 6778003 });
    expect((await service.stored(id))?.cancelationReason).toBe('Customer');
  });

  it('keeps access for the grace when a payment fails, and loses it after', async () => {
    const { id } = await service.buy();
    await service.callControl('/clock', { advance: 'P1M' });
    await service.act(id, 'fail-payment');
    expect((await service.again(id)).data.collection[0]).toMatchObject({
      isBillingRetryPeriod: true,
      isExpired: false,
    });
    await service.callControl('/clock', { advance: 'P8D' });
    expect(await service.again(id)).toMatchObject({ ok: false, code: 6778003 });
    await service.act(id, 'recover');
    expect((await service.again(id)).data.collection[0]).toMatchObject({
      isBillingRetryPeriod: false,
      isExpired: false,
    });
  });

  it('is lost at once when the account gives no grace', async () => {
    const { id } = await service.buy();
    await service.callControl('/clock', { advance: 'P1M' });
    await service.act(id, 'fail-payment', { grace: false });
    expect(await service.again(id)).toMatchObject({ ok: false, code: 6778003 });
    expect((await service.stored(id))?.cancelationReason).toBe('System.BillingError');
  });

  test.each([
    ['refund', 'Customer'],
    ['revoke', 'System'],
  ])('is taken away by a %s', async (action, reason) => {
    const { id } = await service.buy();
    await service.again(id);
    await service.callControl('/clock', { advance: 'P1D' });
    await service.act(id, action);
    expect(await service.again(id)).toMatchObject({ ok: false, status: 419, code: 6778003 });
    expect((await service.stored(id))?.cancelationReason).toBe(reason);
  });

  it('gives nothing while it is paused', async () => {
    const { id } = await service.buy();
    await service.act(id, 'pause', { period: 'P10D' });
    expect(await service.again(id)).toMatchObject({ ok: false, code: 6778003 });
    expect(await service.stored(id)).toMatchObject({
      isPaused: true,
      cancelationReason: 'PAUSED',
      autoResumeDate: expect.any(Number),
    });
    await service.callControl('/clock', { advance: 'P11D' });
    expect((await service.again(id)).data.collection[0]).toMatchObject({ isExpired: false });
  });

  it('begins with a trial of which nothing is paid', async () => {
    const { id } = await service.buy({ trial: 'P14D' });
    expect((await service.again(id)).data.collection[0]).toMatchObject({ isTrialPeriod: true, isExpired: false });
    expect(await deps().purchases.listTransactions(service.keys.appName, [`processor_a:${id}`])).toMatchObject([
      { amountMicros: 0, isTrialPeriod: true },
    ]);
  });

  it('changes its product', async () => {
    const { id } = await service.buy();
    await service.again(id);
    await service.act(id, 'change-plan', { productId: 'bigger', priceMicros: 9_990_000 });
    const { validate } = await service.callControl(`/purchases/${id}?form=purchase`);
    expect(validate.id).toBe('bigger');
    expect((await service.validate(service.keys, validate)).body.data.collection).toMatchObject([
      { id: 'bigger', purchaseId: id },
    ]);
  });

  it('is refreshed by its refresh token', async () => {
    const { id } = await service.buy();
    await service.act(id, 'cancel');
    const store = await deps().loadStore('processor_a');
    const seen = await store.refresh?.({ id }, await service.asking());
    expect(seen).toMatchObject([{ purchase: { purchaseId: `processor_a:${id}`, renewalIntent: 'Lapse' } }]);
  });
});
