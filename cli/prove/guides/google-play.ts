import type { ProofGuide } from '../proof-step.ts';

const types = 'https://developer.android.com/google/play/billing/rtdn-reference';
const testing = 'https://developer.android.com/google/play/billing/test';
const lifecycle = 'https://developer.android.com/google/play/billing/lifecycle/subscriptions';

/** License testers of Google Play. A month takes five minutes, and a subscription renews up to six times. */
export const googlePlayGuide: ProofGuide = {
  preparations: [
    'Play Console, Settings, License testing: add two test accounts.',
    'Play Console, Subscriptions, base plan: set a grace period.',
    'Install the app from a testing track, signed in to the device with the first account.',
  ],
  steps: [
    {
      name: 'buy',
      instruction: 'Buy a subscription in the app with the test card that always approves as a new customer.',
      document: types,
      notifications: ['SUBSCRIPTION_PURCHASED'],
      reasons: ['PURCHASED'],
      state: { isExpired: false, renewalIntent: 'Renew' },
      emulatorActions: [],
    },
    {
      name: 'renew',
      instruction: 'Wait for the renewal. A month takes five minutes for a license tester.',
      document: testing,
      notifications: ['SUBSCRIPTION_RENEWED'],
      reasons: ['RENEWED'],
      state: { isExpired: false, renewalIntent: 'Renew' },
      isExtended: true,
      isAutomatic: true,
      emulatorActions: ['renew'],
    },
    {
      name: 'grace',
      instruction:
        'Play Store app, Payments & subscriptions, Subscriptions: select the test card that always declines, and wait for the renewal.',
      document: testing,
      notifications: ['SUBSCRIPTION_IN_GRACE_PERIOD'],
      reasons: ['ENTERED_GRACE_PERIOD'],
      state: { isExpired: false, isBillingRetryPeriod: true },
      emulatorActions: ['fail-payment'],
    },
    {
      name: 'recover',
      instruction: 'Select the test card that always approves again. The grace period of a test takes five minutes.',
      document: lifecycle,
      notifications: ['SUBSCRIPTION_RENEWED', 'SUBSCRIPTION_RECOVERED'],
      reasons: ['RENEWED'],
      state: { isExpired: false, isBillingRetryPeriod: false },
      emulatorActions: ['recover'],
    },
    {
      name: 'cancel',
      instruction: 'Play Store app, Payments & subscriptions, Subscriptions: cancel the subscription.',
      document: types,
      notifications: ['SUBSCRIPTION_CANCELED'],
      reasons: ['WILL_LAPSE'],
      state: { isExpired: false, renewalIntent: 'Lapse' },
      emulatorActions: ['cancel'],
    },
    {
      name: 'restore',
      instruction: 'Sign in to the app as a second customer on the same device, and restore the purchases.',
      document: 'https://developer.android.com/google/play/billing/integrate#fetch',
      notifications: [],
      reasons: [],
      state: { isExpired: false },
      emulatorActions: [],
    },
    {
      name: 'refund',
      instruction: 'Play Console, Order management: refund the latest order with Remove entitlement.',
      document: lifecycle,
      notifications: ['SUBSCRIPTION_REVOKED', 'VOIDED_PURCHASE'],
      reasons: ['REVOKED', 'REFUNDED'],
      state: { isExpired: true },
      emulatorActions: ['revoke'],
    },
  ],
};
