import { createGuide } from '../proof-step.ts';

const types = 'https://developer.android.com/google/play/billing/rtdn-reference';
const testing = 'https://developer.android.com/google/play/billing/test';
const lifecycle = 'https://developer.android.com/google/play/billing/lifecycle/subscriptions';

/** License testers of Google Play. A month takes five minutes, and a subscription renews up to six times. */
export const googlePlayGuide = createGuide({
  preparations: [
    'Play Console, Settings, License testing: add two test accounts.',
    'Play Console, Subscriptions, base plan: set a grace period.',
    'Install the app from a testing track, signed in to the device with the first account.',
  ],
  steps: {
    buy: {
      instruction: 'Buy a subscription in the app with the test card that always approves as a new customer.',
      document: types,
      notifications: ['SUBSCRIPTION_PURCHASED'],
    },
    renew: {
      instruction: 'Wait for the renewal. A month takes five minutes for a license tester.',
      document: testing,
      notifications: ['SUBSCRIPTION_RENEWED'],
    },
    grace: {
      instruction:
        'Play Store app, Payments & subscriptions, Subscriptions: select the test card that always declines, and wait for the renewal.',
      document: testing,
      notifications: ['SUBSCRIPTION_IN_GRACE_PERIOD'],
    },
    recover: {
      instruction: 'Select the test card that always approves again. The grace period of a test takes five minutes.',
      document: lifecycle,
      notifications: ['SUBSCRIPTION_RENEWED', 'SUBSCRIPTION_RECOVERED'],
    },
    cancel: {
      instruction: 'Play Store app, Payments & subscriptions, Subscriptions: cancel the subscription.',
      document: types,
      notifications: ['SUBSCRIPTION_CANCELED'],
    },
    restore: {
      instruction: 'Sign in to the app as a second customer on the same device, and restore the purchases.',
      document: 'https://developer.android.com/google/play/billing/integrate#fetch',
    },
    refund: {
      instruction: 'Play Console, Order management: refund the latest order with Remove entitlement.',
      document: lifecycle,
      notifications: ['SUBSCRIPTION_REVOKED', 'VOIDED_PURCHASE'],
      reasons: ['REVOKED', 'REFUNDED'],
      emulatorActions: ['revoke'],
    },
  },
});
