import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { merge } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { renewKeys } from '../../../../lib/stores/store-c/key-renewal.ts';
import { RefreshToken } from '../../../../lib/stores/store-c/refresh-token.ts';
import { createSession } from '../../../../lib/stores/store-c/session.ts';
import { decodePayload } from '../../../emulator/emulator-client.ts';
import { type Microsoft, start, useMicrosoft } from './fake-microsoft.ts';

const day = 86_400_000;

let microsoft: Microsoft;
beforeAll(async () => {
  microsoft = await useMicrosoft();
});
afterAll(() => microsoft.close());
beforeEach(() => microsoft.clock.set(start));

/** An observation as the table takes it; its refresh token is sealed there. */
const stored = ({ refreshToken: _credential, ...observation }: Observation) => observation;

const expiryOf = (key = ''): number => decodePayload(key).exp * 1000;

describe('a refresh', () => {
  it('sees what a validation would see', async () => {
    const { id, body } = await microsoft.bought({ productId: 'seen again' });
    const [validated] = (await microsoft.validate(body)).observations;
    await microsoft.act(id, 'renew');
    const [refreshed] = await microsoft.refresh(validated?.refreshToken);
    const { purchase, transactions } = await microsoft.seen(id);
    expect(refreshed).toMatchObject({ purchase });
    // Only a client tells a price.
    const { amountMicros, currency, isReportedAmount, ...transaction } = transactions[0] ?? {};
    expect(refreshed?.transactions).toEqual([transaction]);
  });

  it('knows the date of a renewal from the earlier look when no client told the period', async () => {
    const { id, body } = await microsoft.bought({ productId: 'no period', period: 'P3M' });
    const { billingPeriod: _count, billingPeriodUnit: _unit, ...untold } = body;
    const [validated] = (await microsoft.validate(untold)).observations;
    await microsoft.act(id, 'renew');
    const [refreshed] = await microsoft.refresh(validated?.refreshToken);
    expect(refreshed?.purchase).toMatchObject({
      lastRenewalDate: validated?.purchase.expirationDate,
      transactionId: `store_c:${id}:2027-07-31`,
    });
  });

  it('adds one transaction a period to what is known, however often it looks', async () => {
    const { body } = await microsoft.bought({ productId: 'many periods', autoRenew: true });
    let [latest] = (await microsoft.validate(body)).observations;
    let known = latest && merge(undefined, stored(latest));
    for (let week = 0; week < 20; week++) {
      await microsoft.advance('P1W');
      [latest] = await microsoft.refresh(latest?.refreshToken);
      known = latest && merge(known, stored(latest));
    }
    const ends = known?.transactions.map(({ transaction }) => new Date(transaction.expirationDate ?? 0).toISOString());
    expect(ends?.map((end) => end.slice(0, 10))).toEqual([
      '2027-02-28',
      '2027-03-31',
      '2027-04-30',
      '2027-05-31',
      '2027-06-30',
    ]);
    expect(known?.purchase.lastRenewalDate).toBe(Date.parse('2027-05-31T10:00:00Z'));
  });

  it('finds nothing any more of what was fulfilled', async () => {
    const { body } = await microsoft.bought({ productId: 'fulfilled', type: 'consumable' });
    const validation = await microsoft.validate(body);
    const { storeC } = await import('../../../../lib/stores/store-c/store-c.ts');
    await storeC.fulfill?.(validation, microsoft.asking({ consume: true }));
    expect(await microsoft.refresh(validation.observations[0]?.refreshToken)).toEqual([]);
  });

  it('with a key that has expired asks for more data, without a ticket for nobody', async () => {
    const { body } = await microsoft.bought({ productId: 'too late' });
    const [validated] = (await microsoft.validate(body)).observations;
    await microsoft.advance('P31D');
    const error = await microsoft.refresh(validated?.refreshToken).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'NeedMoreData', data: {} });
    expect(error).not.toHaveProperty('data.serviceTicket');
  });

  it('refuses a token that is none', async () => {
    await expect(microsoft.refresh({ purchaseKey: 'key' })).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});

describe('a StoreID key', () => {
  it('is renewed after 14 days, both where there are two, and not before', async () => {
    const { id } = await microsoft.bought({ productId: 'two keys', autoRenew: true });
    const [validated] = (await microsoft.validate(await microsoft.bodyOf(id, 'both'))).observations;
    const token = v.parse(RefreshToken, validated?.refreshToken);
    await microsoft.advance('P13D');
    expect(await renewKeys(createSession(microsoft.asking()), token)).toEqual(token);
    await microsoft.advance('P2D');
    const renewed = await renewKeys(createSession(microsoft.asking()), token);
    expect(renewed).toMatchObject({ productId: 'two keys', period: 'P1M' });
    for (const key of [renewed.collectionsKey, renewed.purchaseKey]) expect(expiryOf(key)).toBe(start + 45 * day);
  });

  it('lives on for as long as the purchase is refreshed', async () => {
    const { body } = await microsoft.bought({ productId: 'lives on', autoRenew: true });
    let [observed] = (await microsoft.validate(body)).observations;
    for (let fortnight = 0; fortnight < 8; fortnight++) {
      await microsoft.advance('P15D');
      [observed] = await microsoft.refresh(observed?.refreshToken);
    }
    expect(expiryOf(observed?.refreshToken?.purchaseKey)).toBe(start + 150 * day);
  });

  it('that cannot be renewed now is used as it is', async () => {
    const other = await useMicrosoft();
    const { id, body } = await other.bought({ autoRenew: true });
    const [validated] = (await other.validate(body)).observations;
    await other.advance('P15D');
    // The first call is for a token, the second is the renewal.
    await other.addFault({ fault: 'slow', delayMs: 0 });
    await other.addFault({ fault: 'down' });
    expect(await other.refresh(validated?.refreshToken)).toMatchObject([
      { purchase: { purchaseId: `store_c:${id}` }, refreshToken: { purchaseKey: body.license?.storeIdKey_purchases } },
    ]);
    expect(other.calls.map(({ url }) => new URL(url).pathname)).toContain('/v6.0/b2b/keys/renew');
    await other.close();
  });
});
