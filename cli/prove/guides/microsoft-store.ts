import type { ProofGuide } from '../proof-step.ts';

const recurrences = 'https://learn.microsoft.com/en-us/windows/uwp/monetize/get-subscriptions-for-a-user';
const testing = 'https://learn.microsoft.com/en-us/windows/apps/publish/publish-your-app/private-audience';

/** A private audience in the Microsoft Store, which lacks accelerated renewals and does not post notifications. */
export const microsoftStoreGuide: ProofGuide = {
  preparations: [
    'Partner Center: publish the app to a private audience with two Microsoft accounts, and create promotional codes.',
    'Windows: sign in to the Microsoft Store with the first account.',
  ],
  steps: [
    {
      name: 'buy',
      instruction: 'Buy a subscription in the app as a new customer.',
      document: testing,
      notifications: [],
      reasons: ['PURCHASED'],
      state: { isExpired: false, renewalIntent: 'Renew' },
      emulatorActions: [],
    },
    {
      name: 'renew',
      instruction: 'Wait for the renewal. Periods are not shorter for a private audience: run this step later.',
      document: recurrences,
      notifications: [],
      reasons: ['RENEWED'],
      state: { isExpired: false, renewalIntent: 'Renew' },
      isExtended: true,
      isAutomatic: true,
      emulatorActions: ['renew'],
    },
    {
      name: 'grace',
      instruction: 'Microsoft account, Payment options: select a card that declines, and wait for the renewal.',
      document: recurrences,
      notifications: [],
      reasons: ['ENTERED_GRACE_PERIOD'],
      state: { isExpired: false, isBillingRetryPeriod: true },
      emulatorActions: ['fail-payment'],
    },
    {
      name: 'recover',
      instruction: 'Microsoft account, Payment options: select a valid card.',
      document: recurrences,
      notifications: [],
      reasons: ['RENEWED'],
      state: { isExpired: false, isBillingRetryPeriod: false },
      emulatorActions: ['recover'],
    },
    {
      name: 'cancel',
      instruction: 'Microsoft account, Services & subscriptions: turn off the recurring billing.',
      document: recurrences,
      notifications: [],
      reasons: ['WILL_LAPSE'],
      state: { isExpired: false, renewalIntent: 'Lapse' },
      emulatorActions: ['cancel'],
    },
    {
      name: 'restore',
      instruction: 'Sign in to the app as a second customer on the same device, and restore the purchases.',
      document: 'https://learn.microsoft.com/en-us/windows/uwp/monetize/view-and-grant-products-from-a-service',
      notifications: [],
      reasons: [],
      state: { isExpired: false },
      emulatorActions: [],
    },
    {
      name: 'refund',
      instruction: 'Microsoft account, Services & subscriptions: cancel the subscription with a refund.',
      document:
        'https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/xstore-managing-refunds-and-chargebacks',
      notifications: [],
      reasons: ['REFUNDED', 'REVOKED', 'EXPIRED'],
      state: { isExpired: true },
      emulatorActions: ['refund'],
    },
  ],
};
