import { createGuide } from '../proof-step.ts';

const kinds = 'https://developer.paypal.com/braintree/docs/reference/general/webhooks/subscription';
const testing = 'https://developer.paypal.com/braintree/docs/reference/general/testing/node';

/** The sandbox of Braintree, which bills at the dates of the plan. */
export const braintreeGuide = createGuide({
  preparations: [
    'Braintree control panel of the sandbox, Plans: a plan in the catalogue of the settings. Its billing cycle is a month.',
    'Braintree control panel, Settings, API, Webhooks: the notification URL, with all kinds.',
  ],
  steps: {
    buy: {
      instruction: 'Buy a subscription on the site with the card 4111 1111 1111 1111 as a new customer.',
      document: testing,
      notifications: ['subscription_charged_successfully', 'subscription_went_active'],
    },
    renew: {
      instruction:
        'Wait for the next billing date. The sandbox bills daily, on the dates of the plan: run this step later.',
      document: kinds,
      notifications: ['subscription_charged_successfully'],
    },
    grace: {
      instruction:
        'Change the price of the subscription to 2000.00, which the sandbox declines, and wait for the billing date.',
      document: testing,
      notifications: ['subscription_went_past_due', 'subscription_charged_unsuccessfully'],
    },
    recover: {
      instruction: 'Change the price back, and retry the charge in the control panel.',
      document: kinds,
      notifications: ['subscription_charged_successfully', 'subscription_went_active'],
      state: { isExpired: false },
    },
    cancel: {
      instruction: 'Braintree control panel, Subscriptions: cancel the subscription.',
      document: kinds,
      notifications: ['subscription_canceled'],
      state: { renewalIntent: 'Lapse' },
    },
    restore: {
      instruction: 'Sign in to the site as a second customer, and submit the same subscription.',
      document: 'https://developer.paypal.com/braintree/docs/reference/response/subscription/node',
      state: {},
    },
    refund: {
      instruction: 'Braintree control panel, Transactions: refund the latest payment of the subscription.',
      document: 'https://developer.paypal.com/braintree/docs/reference/request/transaction/refund/node',
    },
  },
});
