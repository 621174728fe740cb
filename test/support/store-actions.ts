import { expect } from '@jest/globals';
import type { Platform } from '../../lib/purchases/platform.ts';

/** A store, what happens there to a purchase one after the other, and what is shown of it after a refresh. */
export type ActionRow = [platform: Platform, actions: string, shown: object | typeof changesNothing];

/** For actions after which the purchase is shown as before. */
export const changesNothing = 'what it showed before';

const renews = { isExpired: false, renewalIntent: 'Renew' };
const lapses = { isExpired: false, renewalIntent: 'Lapse' };
const ended = { isExpired: true, renewalIntent: 'Lapse' };
const renewed = { ...renews, lastRenewalDate: expect.any(String) };

/** What happens to a subscription at each store. */
export const subscriptionActions: ActionRow[] = [
  ['store_a', 'renew', renewed],
  ['store_a', 'cancel', lapses],
  ['store_a', 'cancel uncancel', renews],
  ['store_a', 'fail-payment', { ...renews, isBillingRetryPeriod: true }],
  ['store_a', 'fail-payment recover', { ...renewed, isBillingRetryPeriod: false }],
  ['store_a', 'expire', { ...ended, cancelationReason: 'Unknown' }],
  ['store_a', 'cancel expire', { ...ended, cancelationReason: 'Customer' }],
  ['store_a', 'fail-payment expire', { ...ended, cancelationReason: 'System.BillingError' }],
  ['store_a', 'raise-price expire', { ...ended, cancelationReason: 'Customer.PriceIncrease' }],
  ['store_a', 'refund', { isExpired: true, cancelationReason: 'Customer.OtherReason' }],
  ['store_a', 'revoke', { isExpired: true, cancelationReason: 'Customer.OtherReason' }],
  ['store_a', 'change-plan', { ...renews, productId: 'store_a:better' }],
  ['store_a', 'raise-price', { ...renews, priceConsentStatus: 'Notified' }],
  ['store_a', 'raise-price accept-price', { ...renews, priceConsentStatus: 'Agreed' }],
  ['store_a', 'extend', renews],
  ['store_a', 'redeem-offer', changesNothing],
  // A refund that is asked for or declined changes nothing; one that is taken back gives the access back.
  ['store_a', 'request-refund', changesNothing],
  ['store_a', 'request-refund decline-refund', changesNothing],
  ['store_a', 'refund reverse-refund', { isExpired: false }],
  // The family's member has a purchase of its own.
  ['store_a', 'share', changesNothing],

  ['store_b', 'renew', renews],
  ['store_b', 'cancel', { ...lapses, renewalIntentChangeDate: expect.any(String) }],
  ['store_b', 'cancel expire', { ...ended, cancelationReason: 'Customer' }],
  ['store_b', 'cancel uncancel', renews],
  ['store_b', 'fail-payment', { ...renews, isBillingRetryPeriod: true }],
  ['store_b', 'fail-payment recover', { ...renews, isBillingRetryPeriod: false }],
  ['store_b', 'expire', ended],
  // Money that is paid back leaves the access.
  ['store_b', 'refund', { isExpired: false }],
  ['store_b', 'revoke', { ...ended, cancelationReason: 'System' }],
  [
    'store_b',
    'pause',
    { isExpired: true, isPaused: true, cancelationReason: 'PAUSED', autoResumeDate: expect.any(String) },
  ],
  ['store_b', 'pause resume', renews],
  // The plan that was changed to is a purchase of its own.
  ['store_b', 'change-plan', { isExpired: true, cancelationReason: 'System.Replaced' }],
  ['store_b', 'raise-price', { ...renews, priceConsentStatus: 'Notified' }],
  ['store_b', 'raise-price accept-price', { ...renews, priceConsentStatus: 'Agreed' }],
  ['store_b', 'test-notification', changesNothing],

  ['store_c', 'renew', renewed],
  ['store_c', 'cancel', lapses],
  ['store_c', 'cancel uncancel', renews],
  ['store_c', 'fail-payment', { ...renews, isBillingRetryPeriod: true }],
  ['store_c', 'fail-payment recover', { ...renews, isBillingRetryPeriod: false }],
  ['store_c', 'expire', { ...ended, cancelationReason: 'Customer' }],
  // The store does not say who wished the end.
  ['store_c', 'refund', { ...ended, cancelationReason: 'Unknown' }],
  ['store_c', 'revoke', { ...ended, cancelationReason: 'Unknown' }],

  ...(['processor_a', 'service_processor_a'] as const).flatMap((platform): ActionRow[] => [
    [platform, 'renew', renewed],
    [platform, 'cancel', lapses],
    [platform, 'cancel uncancel', renews],
    [platform, 'fail-payment', { ...renews, isBillingRetryPeriod: true }],
    [platform, 'fail-payment recover', { ...renewed, isBillingRetryPeriod: false }],
    [platform, 'expire', ended],
    [platform, 'pause', { isExpired: true, isPaused: true, cancelationReason: 'PAUSED' }],
    [platform, 'pause resume', renews],
    [platform, 'change-plan', { ...renews, productId: `${platform}:better` }],
    [platform, 'refund', { isExpired: true, cancelationReason: 'Customer' }],
    // A payment is revoked by a dispute that is lost.
    [platform, 'revoke', { isExpired: true, cancelationReason: 'System' }],
  ]),

  ['processor_b', 'renew', renewed],
  ['processor_b', 'cancel', { ...lapses, cancelationReason: 'Customer' }],
  ['processor_b', 'fail-payment', { ...renews, isBillingRetryPeriod: true }],
  ['processor_b', 'fail-payment recover', renews],
  ['processor_b', 'expire', ended],
  ['processor_b', 'refund', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_b', 'revoke', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_b', 'test-notification', changesNothing],
];

/** What happens to a purchase that is made once and kept. */
export const oneOffActions: ActionRow[] = [
  ['store_a', 'refund', { isExpired: true, cancelationReason: 'Customer.OtherReason' }],
  ['store_a', 'revoke', { isExpired: true, cancelationReason: 'Customer.OtherReason' }],
  ['store_b', 'refund', { isExpired: true, cancelationReason: 'Unknown' }],
  ['store_b', 'revoke', { isExpired: true, cancelationReason: 'Unknown' }],
  ['store_c', 'refund', { isExpired: true, cancelationReason: 'Customer' }],
  ['store_c', 'revoke', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_a', 'refund', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_a', 'revoke', { isExpired: true, cancelationReason: 'System' }],
  ['service_processor_a', 'refund', { isExpired: true, cancelationReason: 'Customer' }],
  ['service_processor_a', 'revoke', { isExpired: true, cancelationReason: 'System' }],
  ['processor_b', 'refund', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_b', 'revoke', { isExpired: true, cancelationReason: 'Customer' }],
];
