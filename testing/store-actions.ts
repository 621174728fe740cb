import { expect } from '@jest/globals';
import type { Platform } from '../lib/shared/platform.ts';

/** When a purchase ends, next to when it was to end; what is taken away from one that had no end ends sooner, too. */
export type EndChange = 'sooner' | 'as before' | 'later';

/** A store, what happens there to a purchase one after the other, and what is shown of it after a refresh. */
export type ActionCase = [platform: Platform, actions: string, end: EndChange, shown: object | typeof unchanged];

/** For actions after which the purchase is shown as before. */
export const unchanged = 'what it showed before';

const renews = { isExpired: false, renewalIntent: 'Renew' };
const lapses = { isExpired: false, renewalIntent: 'Lapse' };
const endedState = { isExpired: true, renewalIntent: 'Lapse' };
const renewedState = { ...renews, lastRenewalDate: expect.any(String) };

/** What happens to a subscription at each store. */
export const subscriptionActions: ActionCase[] = [
  ['store_a', 'renew', 'later', renewedState],
  ['store_a', 'cancel', 'as before', lapses],
  ['store_a', 'cancel uncancel', 'as before', renews],
  ['store_a', 'fail-payment', 'later', { ...renews, isBillingRetryPeriod: true }],
  ['store_a', 'fail-payment recover', 'later', { ...renewedState, isBillingRetryPeriod: false }],
  ['store_a', 'expire', 'sooner', { ...endedState, cancelationReason: 'Unknown' }],
  ['store_a', 'cancel expire', 'sooner', { ...endedState, cancelationReason: 'Customer' }],
  ['store_a', 'fail-payment expire', 'sooner', { ...endedState, cancelationReason: 'System.BillingError' }],
  ['store_a', 'raise-price expire', 'sooner', { ...endedState, cancelationReason: 'Customer.PriceIncrease' }],
  ['store_a', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer.OtherReason' }],
  ['store_a', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'Customer.OtherReason' }],
  ['store_a', 'change-plan', 'as before', { ...renews, productId: 'store_a:better' }],
  ['store_a', 'raise-price', 'as before', { ...renews, priceConsentStatus: 'Notified' }],
  ['store_a', 'raise-price accept-price', 'as before', { ...renews, priceConsentStatus: 'Agreed' }],
  ['store_a', 'extend', 'later', renews],
  ['store_a', 'redeem-offer', 'as before', unchanged],
  // A refund that is asked for or declined changes nothing; one that is taken back gives the access back.
  ['store_a', 'request-refund', 'as before', unchanged],
  ['store_a', 'request-refund decline-refund', 'as before', unchanged],
  ['store_a', 'refund reverse-refund', 'as before', { isExpired: false }],
  // The family's member has a purchase of its own.
  ['store_a', 'share', 'as before', unchanged],

  ['store_b', 'renew', 'later', renewedState],
  ['store_b', 'cancel', 'as before', { ...lapses, renewalIntentChangeDate: expect.any(String) }],
  ['store_b', 'cancel expire', 'sooner', { ...endedState, cancelationReason: 'Customer' }],
  ['store_b', 'cancel uncancel', 'as before', renews],
  ['store_b', 'fail-payment', 'later', { ...renews, isBillingRetryPeriod: true }],
  ['store_b', 'fail-payment recover', 'later', { ...renewedState, isBillingRetryPeriod: false }],
  ['store_b', 'expire', 'sooner', endedState],
  // Money that is paid back leaves the access.
  ['store_b', 'refund', 'as before', { isExpired: false }],
  ['store_b', 'revoke', 'sooner', { ...endedState, cancelationReason: 'System' }],
  [
    'store_b',
    'pause',
    'sooner',
    { isExpired: true, isPaused: true, cancelationReason: 'PAUSED', autoResumeDate: expect.any(String) },
  ],
  ['store_b', 'pause resume', 'as before', renews],
  // The plan that was changed to is a purchase of its own.
  ['store_b', 'change-plan', 'sooner', { isExpired: true, cancelationReason: 'System.Replaced' }],
  ['store_b', 'raise-price', 'as before', { ...renews, priceConsentStatus: 'Notified' }],
  ['store_b', 'raise-price accept-price', 'as before', { ...renews, priceConsentStatus: 'Agreed' }],
  ['store_b', 'test-notification', 'as before', unchanged],

  ['store_c', 'renew', 'later', renewedState],
  ['store_c', 'cancel', 'as before', lapses],
  ['store_c', 'cancel uncancel', 'as before', renews],
  ['store_c', 'fail-payment', 'later', { ...renews, isBillingRetryPeriod: true }],
  ['store_c', 'fail-payment recover', 'later', { ...renewedState, isBillingRetryPeriod: false }],
  ['store_c', 'expire', 'sooner', { ...endedState, cancelationReason: 'Customer' }],
  // The store does not say who wished the end.
  ['store_c', 'refund', 'sooner', { ...endedState, cancelationReason: 'Unknown' }],
  ['store_c', 'revoke', 'sooner', { ...endedState, cancelationReason: 'Unknown' }],

  ...(['processor_a', 'service_processor_a'] as const).flatMap((platform): ActionCase[] => [
    [platform, 'renew', 'later', renewedState],
    [platform, 'cancel', 'as before', lapses],
    [platform, 'cancel uncancel', 'as before', renews],
    [platform, 'fail-payment', 'later', { ...renews, isBillingRetryPeriod: true }],
    [platform, 'fail-payment recover', 'later', { ...renewedState, isBillingRetryPeriod: false }],
    [platform, 'expire', 'sooner', endedState],
    [platform, 'pause', 'sooner', { isExpired: true, isPaused: true, cancelationReason: 'PAUSED' }],
    [platform, 'pause resume', 'as before', renews],
    [platform, 'change-plan', 'as before', { ...renews, productId: `${platform}:better` }],
    [platform, 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
    // A payment is revoked by a dispute that is lost.
    [platform, 'revoke', 'sooner', { isExpired: true, cancelationReason: 'System' }],
  ]),

  ['processor_b', 'renew', 'later', renewedState],
  ['processor_b', 'cancel', 'as before', { ...lapses, cancelationReason: 'Customer' }],
  ['processor_b', 'fail-payment', 'later', { ...renews, isBillingRetryPeriod: true }],
  ['processor_b', 'fail-payment recover', 'later', renewedState],
  ['processor_b', 'expire', 'sooner', endedState],
  ['processor_b', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_b', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_b', 'test-notification', 'as before', unchanged],
];

/** What happens to a purchase that is made once and kept. */
export const oneOffActions: ActionCase[] = [
  ['store_a', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer.OtherReason' }],
  ['store_a', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'Customer.OtherReason' }],
  ['store_b', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Unknown' }],
  ['store_b', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'Unknown' }],
  ['store_c', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['store_c', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_a', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_a', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'System' }],
  ['service_processor_a', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['service_processor_a', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'System' }],
  ['processor_b', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_b', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
];
