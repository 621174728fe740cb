import { createGuide } from '../proof-step.ts';

const recurrences = 'https://learn.microsoft.com/en-us/windows/uwp/monetize/get-subscriptions-for-a-user';
const testing = 'https://learn.microsoft.com/en-us/windows/apps/publish/publish-your-app/private-audience';

/** A private audience in the Microsoft Store, which lacks accelerated renewals and does not post notifications. */
export const microsoftStoreGuide = createGuide({
  preparations: [
    'Partner Center: publish the app to a private audience with two Microsoft accounts, and create promotional codes.',
    'Windows: sign in to the Microsoft Store with the first account.',
  ],
  steps: {
    buy: {
      instruction: 'Buy a subscription in the app as a new customer.',
      document: testing,
    },
    renew: {
      instruction: 'Wait for the renewal. Periods are not shorter for a private audience: run this step later.',
      document: recurrences,
    },
    grace: {
      instruction: 'Microsoft account, Payment options: select a card that declines, and wait for the renewal.',
      document: recurrences,
    },
    recover: {
      instruction: 'Microsoft account, Payment options: select a valid card.',
      document: recurrences,
    },
    cancel: {
      instruction: 'Microsoft account, Services & subscriptions: turn off the recurring billing.',
      document: recurrences,
    },
    restore: {
      instruction: 'Sign in to the app as a second customer on the same device, and restore the purchases.',
      document: 'https://learn.microsoft.com/en-us/windows/uwp/monetize/view-and-grant-products-from-a-service',
    },
    refund: {
      instruction: 'Microsoft account, Services & subscriptions: cancel the subscription with a refund.',
      document:
        'https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/xstore-managing-refunds-and-chargebacks',
      reasons: ['REFUNDED', 'REVOKED', 'EXPIRED'],
    },
  },
});
