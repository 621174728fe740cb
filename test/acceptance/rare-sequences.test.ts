import { beforeEach, describe, expect, it } from '@jest/globals';
import { changeSettings, getApp, type IssuedApiKeys, saveCatalogue } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { hourMs } from '../../lib/foundation/time.ts';
import { listTransactions, type TransactionRecord } from '../../lib/purchases/transaction-contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { pollNotifications } from '../../lib/store-notifications/recover-notifications.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { listPurchaseRows } from '../../testing/customer-answers.ts';
import { createUniqueName } from '../../testing/given.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { readLedger, sumLedger } from '../../testing/store-ledger.ts';
import { listReasons, startNotificationFixture } from '../functions/notification-fixture.ts';

const fixture = startBeforeAll(startNotificationFixture);
beforeEach(() => fixture.resetStores());

/** An action of the store with its details, or a duration by which the clock advances. `first` is the first payment. */
type Step = string | readonly [action: string, details: object];

/** State of a purchase: product, `owned` or the reason of the end, and announcements. */
type Result = readonly [productId: string, state: string, reasons: string];

const renewing = { type: 'paid subscription', autoRenew: true, acknowledged: true };
const better = ['change-plan', { productId: 'better', priceMicros: 9_990_000 }] as const;
const cheaper = ['change-plan', { productId: 'cheaper', priceMicros: 500_000 }] as const;
const deferred = ['change-plan', { productId: 'cheaper', priceMicros: 500_000, deferred: true }] as const;
const first = { first: true };
const retried = ['fail-payment', { retrying: true }] as const;
const wonDispute = ['P5D', 'dispute', 'P1D', 'win-dispute'] as const;
const million = ['refund', { amountMicros: 1_000_000 }] as const;
const refundParts = ['P5D', million, 'P1D', million] as const;
const kept = ['refund', { keep: true }] as const;
const fee = { priceMicros: 2_000_000 };
const extra = { productId: 'extra' };
const withExtra = { ...renewing, addOns: [extra] };
const withItem = { ...renewing, items: [{ ...extra, priceMicros: 3_000_000 }] };
const monthly = { ...renewing, productId: 'monthly' };

type Sequence = readonly [title: string, Platform, order: object, readonly Step[], readonly Result[]];

const sequences: readonly Sequence[] = [
  [
    'an upgrade in the grace period',
    'store_a',
    renewing,
    ['P27D', 'fail-payment', 'P6D', better, 'P1M'],
    [['better', 'owned', 'PURCHASED ENTERED_GRACE_PERIOD PLAN_CHANGED RENEWED']],
  ],
  [
    'a downgrade in the grace period that is recovered',
    'store_a',
    renewing,
    ['P27D', 'fail-payment', 'P6D', cheaper, 'recover'],
    [['cheaper', 'owned', 'PURCHASED ENTERED_GRACE_PERIOD PLAN_CHANGED RENEWED']],
  ],
  [
    'a downgrade that is withdrawn before the renewal',
    'store_a',
    renewing,
    ['P10D', cheaper, ['change-plan', { productId: 'premium' }], 'P1M'],
    [['premium', 'owned', 'PURCHASED PLAN_CHANGED RENEWED']],
  ],
  [
    'a downgrade to a plan in another currency',
    'store_a',
    renewing,
    ['P10D', ['change-plan', { productId: 'euro plan', priceMicros: 2_000_000, currency: 'EUR' }], 'P1M', 'refund'],
    [['euro plan', 'Customer.OtherReason', 'PURCHASED PLAN_CHANGED RENEWED REFUNDED']],
  ],
  [
    'an upgrade while a failed payment is retried',
    'store_a',
    renewing,
    ['P27D', ['fail-payment', { grace: false }], 'P10D', better],
    [['better', 'owned', 'PURCHASED EXPIRED RENEWED']],
  ],
  [
    'the refund of an earlier period after a plan change',
    'store_a',
    renewing,
    ['P1M', better, ['refund', first]],
    [['better', 'owned', 'PURCHASED RENEWED PLAN_CHANGED REFUNDED']],
  ],
  [
    'seats that are added, refunded and renewed before the refund of all',
    'store_a',
    { ...renewing, seats: 3 },
    [['add-seats', { quantity: 2 }], ['refund-seats', { quantity: 1 }], 'P1M', 'refund'],
    [['premium', 'Customer.OtherReason', 'PURCHASED REFUNDED RENEWED REFUNDED']],
  ],
  [
    'two refunds of some seats',
    'store_a',
    { ...renewing, seats: 5 },
    [['refund-seats', { quantity: 1 }], 'P1D', ['refund-seats', { quantity: 2 }]],
    [['premium', 'owned', 'PURCHASED REFUNDED REFUNDED']],
  ],
  [
    'two refunds of some units',
    'store_a',
    { type: 'consumable', productId: 'coins', quantity: 3 },
    [['refund', { quantity: 1 }], 'P1D', ['refund', { quantity: 1 }]],
    [['coins', 'owned', 'PURCHASED REFUNDED REFUNDED']],
  ],
  [
    'a reversed refund of some units',
    'store_a',
    { type: 'consumable', productId: 'coins', quantity: 3 },
    [['refund', { quantity: 1 }], 'reverse-refund', 'P1D', 'refund'],
    [['coins', 'Customer.OtherReason', 'PURCHASED REFUNDED REFUNDED']],
  ],
  [
    'a reversed refund of the unused time, and a second one',
    'store_a',
    renewing,
    ['P10D', ['refund', { prorated: true }], 'P1D', 'reverse-refund', 'P5D', ['refund', { prorated: true }]],
    [['premium', 'Customer.OtherReason', 'PURCHASED REFUNDED RENEWED REFUNDED']],
  ],
  [
    'a commitment plan that fails, recovers after two months, and loses an earlier period',
    'store_a',
    { ...renewing, commitment: true },
    ['P1M', 'fail-payment', 'P61D', 'recover', ['refund', first]],
    [['premium', 'owned', 'PURCHASED RENEWED EXPIRED RENEWED REFUNDED']],
  ],
  [
    'a revocation while the payment of an add-on is retried',
    'store_b',
    withExtra,
    ['P27D', ['fail-payment', extra], 'revoke'],
    [
      ['extra', 'Developer', 'PURCHASED ENTERED_GRACE_PERIOD REVOKED'],
      ['premium', 'Developer', 'PURCHASED ENTERED_GRACE_PERIOD REVOKED'],
    ],
  ],
  [
    'a prepaid plan that is topped up twice',
    'store_b',
    { type: 'paid subscription', prepaid: true, acknowledged: true },
    ['P20D', 'top-up', 'P5D', 'top-up', 'P1M'],
    [
      ['premium', 'System.Replaced', 'PURCHASED'],
      ['premium', 'System.Replaced', 'RENEWED'],
      ['premium', 'owned', 'RENEWED'],
    ],
  ],
  [
    'an item that is added during a period, and removed again',
    'store_b',
    renewing,
    ['P10D', ['add-item', extra], 'P1M', ['remove-item', extra], 'P1M'],
    [
      ['extra', 'System.Replaced', 'PURCHASED RENEWED'],
      ['extra', 'undefined', 'EXPIRED'],
      ['premium', 'System.Replaced', 'PURCHASED'],
      ['premium', 'System.Replaced', 'RENEWED'],
      ['premium', 'owned', 'RENEWED'],
    ],
  ],
  [
    'a deferred downgrade',
    'store_b',
    renewing,
    ['P10D', deferred, 'P1M', 'P1M'],
    [
      ['cheaper', 'owned', 'PLAN_CHANGED RENEWED'],
      ['premium', 'System.Replaced', 'PLAN_CHANGED'],
      ['premium', 'System.Replaced', 'PURCHASED'],
    ],
  ],
  [
    'a deferred downgrade whose payment fails',
    'store_b',
    renewing,
    ['P10D', deferred, 'P17D', 'fail-payment', 'P5D', 'recover', 'P1M'],
    [
      ['cheaper', 'owned', 'PLAN_CHANGED RENEWED'],
      ['premium', 'System.Replaced', 'PLAN_CHANGED ENTERED_GRACE_PERIOD'],
      ['premium', 'System.Replaced', 'PURCHASED'],
    ],
  ],
  [
    'a deferred change of the base plan',
    'store_b',
    { ...renewing, productId: 'annual', period: 'P1Y' },
    ['P10D', ['change-plan', { period: 'P1M', deferred: true }], 'P1Y', 'P1M'],
    [
      ['annual', 'System.Replaced', 'PURCHASED'],
      ['annual', 'owned', 'RENEWED RENEWED'],
    ],
  ],
  [
    'a recovery from account hold whose payment is refunded',
    'store_b',
    renewing,
    ['P27D', 'fail-payment', 'P12D', 'recover', 'P2D', 'refund', 'P1M'],
    [['premium', 'owned', 'PURCHASED ENTERED_GRACE_PERIOD EXPIRED RENEWED REFUNDED RENEWED']],
  ],
  [
    'a dispute about an earlier payment that is lost',
    'processor_a',
    renewing,
    ['P1M', ['dispute', first], 'revoke'],
    [['premium', 'owned', 'PURCHASED RENEWED REFUNDED']],
  ],
  [
    'a dispute that is lost after a refund of a part',
    'processor_a',
    renewing,
    [['refund', { amountMicros: 2_000_000 }], 'dispute', 'revoke'],
    [['premium', 'System', 'PURCHASED REFUNDED REVOKED']],
  ],
  [
    'a dispute of a payment that was refunded in full',
    'processor_a',
    renewing,
    ['P10D', 'refund', 'P5D', 'dispute', 'P5D', 'revoke'],
    [['premium', 'Customer', 'PURCHASED REFUNDED']],
  ],
  [
    'a dispute of a payment that was refunded in full',
    'processor_b',
    monthly,
    ['P10D', 'refund', 'P5D', 'dispute', 'P5D', 'revoke'],
    [['monthly', 'Customer', 'PURCHASED REFUNDED']],
  ],
  [
    'a dispute of an earlier payment that was refunded in full',
    'processor_a',
    renewing,
    ['P1M', ['refund', first], 'P5D', ['dispute', first], 'P5D', 'win-dispute', 'P1M'],
    [['premium', 'owned', 'PURCHASED RENEWED REFUNDED RENEWED']],
  ],
  [
    'an inquiry that the bank escalates after a refund of a part, and that is lost',
    'processor_a',
    renewing,
    [
      'inquire',
      'P2D',
      ['refund', { amountMicros: 2_000_000 }],
      'P2D',
      'answer-inquiry',
      'P5D',
      'dispute',
      'P3D',
      'revoke',
    ],
    [['premium', 'System', 'PURCHASED REFUNDED REVOKED']],
  ],
  [
    'an inquiry that is closed, and the refund of its payment',
    'processor_a',
    renewing,
    ['inquire', 'P10D', 'close-inquiry', 'P10D', 'refund'],
    [['premium', 'Customer', 'PURCHASED REFUNDED']],
  ],
  [
    'a restored transaction id that is refunded',
    'store_a',
    renewing,
    ['P10D', ['restore', { date: 'now' }], 'P1M', ['restore', { date: 'original' }], 'refund'],
    [['premium', 'Customer.OtherReason', 'PURCHASED RENEWED REFUNDED']],
  ],
  [
    'a restored transaction id of a non-consumable on two devices',
    'store_a',
    { type: 'non consumable', productId: 'lifetime' },
    ['P10D', ['restore', { date: 'now' }], 'P5D', ['restore', { date: 'original' }]],
    [['lifetime', 'owned', 'PURCHASED']],
  ],
  [
    'a payment in two parts that are refunded one after the other',
    'processor_a',
    renewing,
    ['split-payment', 'P2D', ['refund', { payment: 2 }], 'P2D', ['refund', { payment: 1 }]],
    [['premium', 'Customer', 'PURCHASED REFUNDED REFUNDED']],
  ],
  [
    'an extra invoice that is refunded, and another one that stays unpaid',
    'processor_a',
    renewing,
    [
      ['extra-invoice', fee],
      'P1D',
      ['refund', { payment: 'last' }],
      'P1D',
      ['extra-invoice', { ...fee, unpaid: true }],
    ],
    [['premium', 'owned', 'PURCHASED REFUNDED']],
  ],
  [
    'an upgrade within an unpaid period',
    'processor_a',
    renewing,
    ['P27D', 'fail-payment', 'P6D', better, 'P10D'],
    [['better', 'System.BillingError', 'PURCHASED ENTERED_GRACE_PERIOD PLAN_CHANGED EXPIRED']],
  ],
  [
    'an emailed invoice that is overdue and paid after the end of its grace',
    'processor_a',
    { ...renewing, collection: 'send_invoice', daysUntilDue: 3 },
    ['pay', 'P1M', 'P5D', 'P7D', 'pay'],
    [['premium', 'owned', 'PURCHASED ENTERED_GRACE_PERIOD EXPIRED RENEWED']],
  ],
  [
    'an emailed invoice that is written off before its due date',
    'processor_a',
    { ...renewing, collection: 'send_invoice', daysUntilDue: 3 },
    ['P1D', 'mark-uncollectible', 'P4D', 'P8D'],
    [['premium', 'System.BillingError', 'PURCHASED EXPIRED']],
  ],
  [
    'a backdated subscription whose first payment is refunded after its renewal',
    'processor_a',
    { ...renewing, backdate: 'P2M' },
    ['P1M', ['refund', { payment: 1 }]],
    [['premium', 'owned', 'PURCHASED RENEWED REFUNDED']],
  ],
  [
    'a trial that is extended, ended early and refunded',
    'processor_a',
    { ...renewing, trial: 'P1W' },
    ['P5D', ['move-trial', { end: 'P9D' }], 'P5D', ['move-trial', { end: 'now' }], 'P5D', 'refund'],
    [['premium', 'Customer', 'PURCHASED EXTENDED RENEWED REFUNDED']],
  ],
  [
    'a debit that fails days after the renewal, and is recovered',
    'processor_a',
    { type: 'paid subscription' },
    ['P27D', ['renew', { pending: true }], 'P8D', 'fail-payment', 'P2D', 'recover'],
    [['premium', 'owned', 'PURCHASED ENTERED_GRACE_PERIOD RENEWED']],
  ],
  [
    'a downgrade whose credit pays for the renewals',
    'processor_a',
    renewing,
    ['P10D', cheaper, 'P1M', 'P1M', 'refund'],
    [['cheaper', 'Customer', 'PURCHASED PLAN_CHANGED RENEWED RENEWED REFUNDED']],
  ],
  [
    'an item that is removed with a credit before a dispute',
    'processor_a',
    withItem,
    ['P5D', ['remove-item', extra], 'P1M', 'dispute', 'revoke'],
    [
      ['extra', 'Unknown', 'PURCHASED EXPIRED'],
      ['premium', 'System', 'PURCHASED RENEWED REVOKED'],
    ],
  ],
  [
    'an item with a trial of its own, which is paid after it',
    'processor_a',
    renewing,
    ['P10D', ['add-item', { ...extra, priceMicros: 3_000_000, trial: true }], 'P1M'],
    [
      ['extra', 'owned', 'PURCHASED RENEWED'],
      ['premium', 'owned', 'PURCHASED RENEWED'],
    ],
  ],
  [
    'a downgrade after a lost dispute, which pays for no access',
    'processor_a',
    renewing,
    ['P10D', better, ['revoke', { payment: 1 }], 'P3D', cheaper, 'P1M'],
    [['cheaper', 'owned', 'PURCHASED PLAN_CHANGED REVOKED PLAN_CHANGED RENEWED']],
  ],
  [
    'a lost dispute of a prorated upgrade, which leaves the period paid',
    'processor_a',
    renewing,
    ['P10D', better, 'revoke', 'P3D', cheaper, 'P1M'],
    [['cheaper', 'owned', 'PURCHASED PLAN_CHANGED REFUNDED PLAN_CHANGED RENEWED']],
  ],
  [
    'a prorated upgrade within a period that a discount makes free',
    'processor_b',
    { ...monthly, freeCycles: 1 },
    ['P10D', ['change-plan', { priceMicros: 19_990_000 }], 'P1M'],
    [['monthly', 'owned', 'PURCHASED RENEWED']],
  ],
  [
    'the refund of a payment before a period that a discount makes free',
    'processor_b',
    monthly,
    ['P27D', ['renew', { free: true }], 'P9D', 'refund'],
    [['monthly', 'owned', 'PURCHASED REFUNDED']],
  ],
  [
    'the refund of a payment whose credit pays the next period',
    'processor_b',
    { ...monthly, priceMicros: 9_990_000 },
    ['P1D', ['change-plan', { priceMicros: 990_000 }], 'P35D', 'refund'],
    [['monthly', 'Customer', 'PURCHASED REFUNDED']],
  ],
  [
    'a payment that is refunded after a retry',
    'processor_b',
    monthly,
    ['P27D', 'fail-payment', 'P3D', 'recover', 'P2D', ['refund', { amountMicros: 1_000_000 }], 'refund'],
    [['monthly', 'Customer', 'PURCHASED ENTERED_GRACE_PERIOD RENEWED REFUNDED REFUNDED']],
  ],
  [
    'a refund that fails, and a second one',
    'processor_b',
    monthly,
    ['P10D', 'refund', 'P2D', 'reverse-refund', 'P2D', 'refund'],
    [['monthly', 'Customer', 'PURCHASED REFUNDED RENEWED REFUNDED']],
  ],
  [
    'a chargeback that is won, and a pre-arbitration that is lost',
    'processor_b',
    monthly,
    ['P10D', 'dispute', 'P5D', 'win-dispute', 'P2D', 'dispute', 'P2D', 'revoke'],
    [['monthly', 'System', 'PURCHASED REVOKED']],
  ],
  [
    'three disputes that are won, and a refund in two parts',
    'processor_b',
    monthly,
    [...wonDispute, ...wonDispute, ...wonDispute, ['refund', { amountMicros: 4_000_000 }], 'P1D', 'refund'],
    [['monthly', 'Customer', 'PURCHASED REFUNDED REFUNDED']],
  ],
  [
    'a refund in three parts, of which the last one fails',
    'processor_b',
    monthly,
    [...refundParts, 'P1D', 'refund', 'P2D', 'reverse-refund', 'P1D'],
    [['monthly', 'owned', 'PURCHASED REFUNDED REFUNDED REFUNDED RENEWED']],
  ],
  [
    'a refund in three parts that all fail, before another refund of the whole payment',
    'processor_b',
    monthly,
    [...refundParts, 'refund', 'reverse-refund', 'reverse-refund', 'reverse-refund', 'P3D', 'refund'],
    [['monthly', 'Customer', 'PURCHASED REFUNDED REFUNDED REFUNDED RENEWED REFUNDED']],
  ],
  [
    'a lost dispute after a refund that failed',
    'processor_b',
    monthly,
    ['P10D', 'refund', 'P2D', 'reverse-refund', 'P2D', 'revoke'],
    [['monthly', 'System', 'PURCHASED REFUNDED RENEWED REVOKED']],
  ],
  [
    'a renewal that fails, is retried while the subscription is active, and is paid',
    'processor_b',
    monthly,
    ['P27D', retried, 'P1D', 'recover', 'P5D'],
    [['monthly', 'owned', 'PURCHASED ENTERED_GRACE_PERIOD RENEWED']],
  ],
  [
    'a renewal whose retries fail while the subscription is active, and afterwards',
    'processor_b',
    monthly,
    ['P27D', retried, 'P1D', retried, 'P1D', 'fail-payment', 'P25D'],
    [['monthly', 'System.BillingError', 'PURCHASED ENTERED_GRACE_PERIOD EXPIRED']],
  ],
  [
    'a dispute that is lost while a payment is past due',
    'processor_b',
    monthly,
    ['P27D', 'fail-payment', 'revoke', 'recover'],
    [['monthly', 'owned', 'PURCHASED ENTERED_GRACE_PERIOD REVOKED RENEWED']],
  ],
  [
    'a chargeback of a refunded payment that is reversed',
    'store_c',
    renewing,
    ['P10D', 'refund', 'P2D', 'chargeback', 'P30D', 'reverse-chargeback', 'P2D'],
    [['premium', 'Unknown', 'PURCHASED REFUNDED']],
  ],
  [
    'a chargeback that is reversed after a refund that leaves the product',
    'store_c',
    renewing,
    ['P10D', 'chargeback', 'P2D', kept, 'P5D', 'reverse-chargeback', 'P14D', 'P14D'],
    [['premium', 'owned', 'PURCHASED REFUNDED RENEWED RENEWED']],
  ],
  [
    'two chargebacks, of which the first is reversed',
    'store_c',
    renewing,
    ['P10D', 'chargeback', 'P5D', 'reverse-chargeback', 'P5D', 'chargeback'],
    [['premium', 'Unknown', 'PURCHASED REFUNDED RENEWED REFUNDED']],
  ],
  [
    'a chargeback within the hour of its reversal',
    'store_c',
    renewing,
    ['P10D', 'chargeback', 'reverse-chargeback', 'P15D', 'P15D'],
    [['premium', 'owned', 'PURCHASED REFUNDED RENEWED RENEWED']],
  ],
  [
    'a product that the customer keeps after a refund, until a chargeback',
    'store_c',
    { type: 'non consumable', productId: 'lifetime' },
    [kept, 'P10D', 'chargeback', 'P10D', 'reverse-chargeback'],
    [['lifetime', 'owned', 'PURCHASED REFUNDED REVOKED RENEWED']],
  ],
  [
    'units that a refund and a chargeback take back once',
    'store_c',
    { type: 'consumable', productId: 'coins', quantity: 3 },
    ['P1D', 'refund', 'P1D', 'chargeback'],
    [['coins', 'Customer', 'PURCHASED REFUNDED']],
  ],
  [
    'units that were consumed before a chargeback, which is reversed',
    'store_c',
    { type: 'consumable', productId: 'coins', quantity: 3 },
    ['P1D', 'consume', 'P1D', 'chargeback', 'P10D', 'reverse-chargeback'],
    [['coins', 'owned', 'PURCHASED REFUNDED RENEWED']],
  ],
  [
    'a developer-managed consumable that a reversal restores',
    'store_c',
    { type: 'consumable', productId: 'coins' },
    ['P1D', 'chargeback', 'P10D', 'reverse-chargeback'],
    [['coins', 'owned', 'PURCHASED REFUNDED RENEWED']],
  ],
  [
    'a refund of the unused time, and a chargeback of the rest',
    'store_c',
    renewing,
    ['P10D', ['refund', { prorated: true }], 'P2D', 'chargeback'],
    [['premium', 'Unknown', 'PURCHASED REFUNDED REFUNDED']],
  ],
  ...(['store_a', 'store_b', 'store_c', 'processor_a', 'processor_b'] as const).map(
    (platform): Sequence => [
      'a payment that fails until its grace period is over',
      platform,
      platform === 'processor_b' ? monthly : renewing,
      ['P27D', 'fail-payment', 'P25D'],
      [
        [
          platform === 'processor_b' ? 'monthly' : 'premium',
          'System.BillingError',
          'PURCHASED ENTERED_GRACE_PERIOD EXPIRED',
        ],
      ],
    ],
  ),
];

describe('rare sequence at a store', () => {
  it.each(sampleItems(sequences, 15))(
    'ends with the money, the access and the announcements of the store: %s (%s)',
    async (...sequence) => {
      const [, platform, order, steps, expected] = sequence;
      const keys = await fixture.createNotifiedApp(platform);
      const applicationUsername = createUniqueName('user');
      const purchase = { platform, productId: 'premium', applicationUsername, ...order };
      const { id } = await fixture.callControl('/purchases', purchase);
      const { validate } = await fixture.callControl(`/purchases/${id}`);
      expect((await fixture.validate(keys, validate)).body).toMatchObject({ ok: true });
      // Google Play starts a separate purchase at a change of the plan or of its items.
      const ids = new Set([id]);
      await expectStoreMoney(keys, applicationUsername, ids);
      for (const step of steps) {
        ids.add(await perform([...ids].at(-1) ?? id, step));
        await processNotifications(keys, platform);
        await expectStoreMoney(keys, applicationUsername, ids);
      }
      expect(await listResults(keys, applicationUsername)).toEqual(expected);
    },
  );
});

describe('subscription that has ended', () => {
  const part = ['refund', { amountMicros: 1_000_000 }] as const;
  const refunds: readonly [title: string, Platform, readonly Step[], readonly Step[]][] = [
    ['another partial refund', 'store_a', [part], [part]],
    ['the refund of the rest', 'store_a', [part], ['refund']],
    ['two refunds', 'store_b', ['expire'], [part, 'P1D', 'refund']],
    ['two refunds', 'processor_a', ['expire'], [part, 'P1D', 'refund']],
    ['two refunds', 'processor_b', ['expire'], [part, 'P1D', 'refund']],
    ['a lost dispute', 'processor_a', ['refund'], ['dispute', 'P5D', 'revoke']],
    ['a lost dispute', 'processor_b', ['refund'], ['dispute', 'P5D', 'revoke']],
  ];
  it.each(sampleItems(refunds, 2))('keeps its end after %s (%s)', async (_title, platform, ending, later) => {
    const keys = await fixture.createNotifiedApp(platform);
    const applicationUsername = createUniqueName('user');
    const order = { ...(platform === 'processor_b' ? monthly : { ...renewing, productId: 'premium' }), platform };
    const { id, validate } = await fixture.callControl('/purchases', { ...order, applicationUsername });
    expect((await fixture.validate(keys, validate)).body).toMatchObject({ ok: true });
    const ends = [];
    for (const steps of [
      ['P10D', ...ending],
      ['P5D', ...later],
    ]) {
      for (const step of steps) {
        await perform(id, step);
        await fixture.processNotifications();
      }
      await expectStoreMoney(keys, applicationUsername, new Set([id]));
      const rows = await refreshRows(keys, applicationUsername);
      ends.push(rows.map(({ expirationDate, isExpired }) => isExpired && expirationDate));
    }
    expect(ends[0]).toEqual([expect.any(String)]);
    expect(ends[1]).toEqual(ends[0]);
  });
});

describe('subscription of Stripe whose payment is disputed after an inquiry', () => {
  it('ends on the day of the withdrawal', async () => {
    const keys = await fixture.createNotifiedApp('processor_a');
    const applicationUsername = createUniqueName('user');
    const order = { platform: 'processor_a', productId: 'premium', applicationUsername, ...renewing };
    const { id, validate } = await fixture.callControl('/purchases', order);
    expect((await fixture.validate(keys, validate)).body).toMatchObject({ ok: true });
    for (const step of ['inquire', 'P9D', 'dispute', 'P5D', 'revoke']) {
      await perform(id, step);
      await fixture.processNotifications();
      await expectStoreMoney(keys, applicationUsername, new Set([id]));
    }
    const [{ disputes }] = (await fixture.callControl(`/purchases/${id}`)).payments;
    const expirationDate = disputes[0].balances[0].createdAt;
    expect(await refreshRows(keys, applicationUsername)).toMatchObject([{ isExpired: true, expirationDate }]);
  });
});

describe('subscription of Stripe whose renewals fail for two months', () => {
  const outcomes = [
    ['cancel', 'System.BillingError', 'PURCHASED ENTERED_GRACE_PERIOD EXPIRED', 1],
    ['unpaid', 'owned', 'PURCHASED ENTERED_GRACE_PERIOD EXPIRED RENEWED', 2],
    ['past_due', 'owned', 'PURCHASED ENTERED_GRACE_PERIOD EXPIRED RENEWED', 2],
  ] as const;
  it.each(sampleItems(outcomes, 1))(
    'ends once, and renews with a payment (%s)',
    async (failedPayments, state, reasons, payments) => {
      await fixture.changeAccount('processor_a', { failedPayments });
      const keys = await fixture.createNotifiedApp('processor_a');
      const applicationUsername = createUniqueName('user');
      const order = { platform: 'processor_a', productId: 'premium', applicationUsername, ...renewing };
      const { id, validate } = await fixture.callControl('/purchases', order);
      expect((await fixture.validate(keys, validate)).body).toMatchObject({ ok: true });
      for (const step of ['P27D', 'fail-payment', 'P20D', 'P30D', 'P15D']) {
        await perform(id, step);
        await fixture.processNotifications();
        await expectStoreMoney(keys, applicationUsername, new Set([id]));
      }
      if (failedPayments !== 'cancel') await perform(id, 'recover');
      await fixture.processNotifications();
      await expectStoreMoney(keys, applicationUsername, new Set([id]));
      expect(await listResults(keys, applicationUsername)).toEqual([['premium', state, reasons]]);
      expect((await fixture.callControl(`/purchases/${id}`)).charges).toHaveLength(payments);
    },
  );
});

const strategies = ['all', 'first', 'last'] as const;
const stores = ['store_a', 'store_b', 'store_c', 'processor_a', 'service_processor_a', 'processor_b'] as const;

describe('restore on a second account', () => {
  const restores = stores.flatMap((platform) => strategies.map((strategy) => [platform, strategy] as const));
  it.each(sampleItems(restores, 4))(
    'keeps the money, and gives access as the strategy states (%s, %s)',
    async (platform, strategy) => {
      const keys = await fixture.createNotifiedApp(platform);
      await changeSettings(getService(), keys.appName, { strategy });
      const [buyer, restorer] = [createUniqueName('buyer'), createUniqueName('restorer')];
      const order = { productId: 'premium', ...(platform === 'processor_b' ? monthly : renewing) };
      const { id } = await fixture.callControl('/purchases', { platform, applicationUsername: buyer, ...order });
      for (const applicationUsername of [buyer, restorer]) {
        const { validate } = await fixture.callControl(`/purchases/${id}`);
        const additionalData = { applicationUsername };
        const { body } = await fixture.validate(keys, { ...validate, additionalData });
        if (applicationUsername === buyer || strategy !== 'first') expect(body).toMatchObject({ ok: true });
      }
      const owners = { all: [buyer, restorer], first: [buyer], last: [restorer] }[strategy];
      for (const step of ['P1D', 'P10D', 'P10D', 'P11D', 'cancel', 'P10D', 'P10D', 'P11D']) {
        await perform(id, step);
        await fixture.processNotifications();
        for (const owner of owners) await expectStoreMoney(keys, owner, new Set([id]));
        const owned = (await listPurchaseRows(keys)).filter(({ entitledUsers }) =>
          [buyer, restorer].some((username) => entitledUsers?.includes(username)),
        );
        expect(owned.map(({ entitledUsers }) => entitledUsers?.toSorted())).toEqual([owners.toSorted()]);
      }
      for (const owner of owners) {
        const [, , reasons] = (await listResults(keys, owner))[0] ?? [];
        expect(reasons).toBe('PURCHASED RENEWED WILL_LAPSE EXPIRED');
      }
    },
  );
});

describe('consumable of Google Play that is bought again', () => {
  it('counts a payment for each token, and keeps the first purchase consumed', async () => {
    const keys = await fixture.createNotifiedApp('store_b', { acknowledge: true });
    const applicationUsername = createUniqueName('user');
    const order = { platform: 'store_b', productId: 'coins', type: 'consumable', applicationUsername };
    await saveCatalogue(getService(), keys.appName, { 'store_b:coins': { type: 'consumable', entitlements: [] } });
    const ids = new Set<string>();
    const evidences = [];
    for (const _purchase of [1, 2]) {
      const { id } = await fixture.callControl('/purchases', order);
      ids.add(id);
      const { validate } = await fixture.callControl(`/purchases/${id}`);
      evidences.push(validate);
      expect((await fixture.validate(keys, validate)).body).toMatchObject({ ok: true });
      await fixture.processNotifications();
      expect(await fixture.callControl(`/purchases/${id}`)).toMatchObject({ isConsumed: true });
      await expectStoreMoney(keys, applicationUsername, ids);
    }
    await fixture.callControl('/clock', { advance: 'P5D' });
    expect((await fixture.validate(keys, evidences[0])).body).toMatchObject({ ok: false });
    await expectStoreMoney(keys, applicationUsername, ids);
    expect(await listResults(keys, applicationUsername)).toEqual([
      ['coins', 'owned', 'PURCHASED ACKNOWLEDGED'],
      ['coins', 'owned', 'PURCHASED ACKNOWLEDGED'],
    ]);
  });
});

describe('pack of units of the Microsoft Store that is bought again before its consumption', () => {
  it('counts the price of each pack, and announces each purchase', async () => {
    const keys = await fixture.createNotifiedApp('store_c');
    const applicationUsername = createUniqueName('user');
    const order = { platform: 'store_c', productId: 'pack', type: 'consumable', quantity: 3, applicationUsername };
    for (const balance of [3, 6]) {
      const { id, validate } = await fixture.callControl('/purchases', order);
      const { body } = await fixture.validate(keys, validate);
      expect(body).toMatchObject({ ok: true, data: { collection: [{ quantity: balance }] } });
      await expectStoreMoney(keys, applicationUsername, new Set([id]));
    }
    expect(await listResults(keys, applicationUsername)).toEqual([['pack', 'owned', 'PURCHASED PURCHASED']]);
  });
});

/** The Microsoft Store does not post notifications: its queue is polled. */
async function processNotifications({ appName }: IssuedApiKeys, platform: Platform): Promise<void> {
  if (platform === 'store_c')
    await pollNotifications(getService(), [await getApp(getService(), appName)], () => hourMs);
  await fixture.processNotifications();
}

/** Performs a step and returns the id of the purchase after it. */
async function perform(id: string, step: Step): Promise<string> {
  const [action, details] = typeof step === 'string' ? [step, {}] : step;
  const { first: isFirst, ...body } = details as { first?: boolean };
  if (action.startsWith('P')) {
    await fixture.callControl('/clock', { advance: action });
    return id;
  }
  const { lines, charges } = await fixture.callControl(`/purchases/${id}`);
  const transactionId = lines?.[0]?.transactionId ?? charges?.[0];
  return (await fixture.callControl(`/purchases/${id}/${action}`, { ...body, ...(isFirst && { transactionId }) })).id;
}

/** Refreshes the purchases of a customer like the schedule: stores do not notify of each change. */
async function refreshRows(keys: IssuedApiKeys, username: string) {
  const isOwn = ({ entitledUsers }: { entitledUsers?: readonly string[] }) =>
    entitledUsers?.includes(username) ?? false;
  for (const { purchaseId } of (await listPurchaseRows(keys)).filter(isOwn)) {
    await refreshPurchase(getService(), { appName: keys.appName, purchaseId: String(purchaseId) });
  }
  return (await listPurchaseRows(keys)).filter(isOwn);
}

async function expectStoreMoney(keys: IssuedApiKeys, username: string, ids: ReadonlySet<string>): Promise<void> {
  const rows = await refreshRows(keys, username);
  const { body } = await callWithSecretKey(listTransactions, keys, { query: { limit: '1000' } });
  const own = body.rows.filter(({ purchaseId }: TransactionRecord) =>
    rows.some((row) => row.purchaseId === purchaseId),
  );
  const sum = (field: 'amountMicros' | 'refundedAmountMicros'): number =>
    own.reduce((total: number, transaction: TransactionRecord) => total + (transaction[field] ?? 0), 0);
  const summaries = await Promise.all([...ids].map(async (id) => await fixture.callControl(`/purchases/${id}`)));
  const entries = summaries.map(readLedger).filter((entry) => entry !== undefined);
  expect({ paidMicros: sum('amountMicros'), returnedMicros: sum('refundedAmountMicros') }).toEqual(sumLedger(entries));
}

async function listResults(keys: IssuedApiKeys, username: string): Promise<Result[]> {
  const results = (await refreshRows(keys, username)).map(
    async ({ purchaseId, productId, isExpired, cancelationReason }): Promise<Result> => [
      String(productId).replace(/^.*:/, ''),
      isExpired ? String(cancelationReason) : 'owned',
      listReasons(await fixture.fetchPurchase(keys, String(purchaseId))).join(' '),
    ],
  );
  return (await Promise.all(results)).toSorted((a, b) => (a.join() < b.join() ? -1 : 1));
}
