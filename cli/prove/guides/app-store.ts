import { createGuide } from '../proof-step.ts';

const types = 'https://developer.apple.com/documentation/appstoreservernotifications/notificationtype';
const sandboxSettings =
  'https://developer.apple.com/help/app-store-connect/test-in-app-purchases/manage-sandbox-apple-account-settings';

/**
 * Sandbox of the App Store. A month takes five minutes there by default, and a subscription renews up to twelve times.
 * @see https://developer.apple.com/documentation/storekit/testing-in-app-purchases-with-sandbox
 */
export const appStoreGuide = createGuide({
  preparations: [
    'App Store Connect, Users and Access, Sandbox: create two test accounts.',
    'App Store Connect, Subscriptions, Billing Grace Period: set it up, also for the sandbox.',
    'Device, Settings, Developer, Sandbox Apple Account: sign in with the first account.',
  ],
  steps: {
    buy: {
      instruction: 'Buy an auto-renewable subscription in the app, signed in to the app as a new customer.',
      document: types,
      notifications: ['SUBSCRIBED.INITIAL_BUY', 'SUBSCRIBED.RESUBSCRIBE'],
    },
    renew: {
      instruction: 'Wait for the renewal. A month takes five minutes in the sandbox.',
      document: types,
      notifications: ['DID_RENEW'],
    },
    grace: {
      instruction:
        'Device, Settings, Developer, Sandbox Apple Account, Manage: turn off Allow Purchases & Renewals, and wait for the renewal.',
      document: sandboxSettings,
      notifications: ['DID_FAIL_TO_RENEW.GRACE_PERIOD'],
    },
    recover: {
      instruction: 'Turn on Allow Purchases & Renewals again, and wait for the payment.',
      document: sandboxSettings,
      notifications: ['DID_RENEW.BILLING_RECOVERY', 'DID_RENEW'],
    },
    cancel: {
      instruction: 'Device, Settings, Developer, Sandbox Apple Account, Manage: cancel the subscription.',
      document: types,
      notifications: ['DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED'],
    },
    restore: {
      instruction: 'Sign in to the app as a second customer on the same device, and restore the purchases.',
      document: 'https://developer.apple.com/documentation/storekit/appstore/sync()',
    },
    refund: {
      instruction:
        'Request a refund in the app (`beginRefundRequest`). The sandbox grants it, unless the reason is Other with the text REJECT.',
      document: 'https://developer.apple.com/documentation/storekit/testing-refund-requests',
      notifications: ['REFUND'],
    },
  },
});
