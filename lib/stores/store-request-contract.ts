import * as v from 'valibot';
import { describeObject, webhookPassword } from '../api/describe.ts';
import { DateTime, OptionalDateTime, OptionalText } from '../api/schemas.ts';
import { Platform } from '../foundation/platform.ts';

const common = {
  /** Type of the store notification in the store's terms. */
  notificationType: v.string(),
  platform: Platform,
  isSandbox: v.boolean(),
};

const consentFields = {
  ...common,
  /** The store account of the customer in the app. */
  appTransactionId: v.string(),
};

const tokenFields = { ...common, externalPurchaseId: v.string(), tokenCreatedAt: OptionalDateTime };

/** The store withdrew the consent of a parent for the customer. The app ends the child's use. */
const RescindedConsent = v.strictObject({ ...consentFields, type: v.literal('consent.rescinded') });

/** The app must report an external purchase token to the store. */
const ExternalPurchase = v.strictObject({ ...tokenFields, type: v.literal('external-purchase.token') });

/** A store's request that only the app can fulfill. */
export const StoreRequest = v.variant('type', [RescindedConsent, ExternalPurchase]);
export type StoreRequest = v.InferOutput<typeof StoreRequest>;
export const storeRequestTypes = ['consent.rescinded', 'external-purchase.token'] as const;

const AnnouncedConsent = v.strictObject({ ...consentFields, date: DateTime });
const AnnouncedToken = v.strictObject({ ...tokenFields, date: DateTime });

/** A webhook about a rescinded consent. `buildWebhookBody` creates the fields. */
export const ConsentRescindedWebhook = v.strictObject({
  type: v.literal('consent.rescinded'),
  password: OptionalText,
  storeRequest: AnnouncedConsent,
  applicationUsername: OptionalText,
});

/** A webhook about an external purchase token. */
export const ExternalPurchaseTokenWebhook = v.strictObject({
  type: v.literal('external-purchase.token'),
  password: OptionalText,
  storeRequest: AnnouncedToken,
});

const date = '2026-01-15T09:30:00.000Z';
const commonFields = {
  platform: ['The store.', 'store_a'],
  isSandbox: ["Whether the request is of the store's sandbox.", false],
  date: ['Date of the notification.', date],
} as const;

export const storeRequestDescriptions = [
  describeObject('AnnouncedConsent', AnnouncedConsent, 'A rescinded consent in a webhook.', {
    ...commonFields,
    notificationType: ["Type of the notification in the store's terms.", 'RESCIND_CONSENT'],
    appTransactionId: ['The store account of the customer in the app.', '704891234567890123'],
  }),
  describeObject('ConsentRescindedWebhook', ConsentRescindedWebhook, 'A parent rescinded the consent for a customer.', {
    type: ['The constant `consent.rescinded`.', 'consent.rescinded'],
    password: webhookPassword,
    storeRequest: ['The request of the store.'],
    applicationUsername: ['The customer. Absent if no customer owns a purchase of the store account.', 'alice'],
  }),
  describeObject('AnnouncedExternalPurchaseToken', AnnouncedToken, 'An external purchase token in a webhook.', {
    ...commonFields,
    notificationType: ["Type of the notification in the store's terms.", 'EXTERNAL_PURCHASE_TOKEN.UNREPORTED'],
    externalPurchaseId: ['Id of the token.', 'b2158121-7af9-49d4-9561-1f588205523e'],
    tokenCreatedAt: ['Date of the token.', date],
  }),
  describeObject(
    'ExternalPurchaseTokenWebhook',
    ExternalPurchaseTokenWebhook,
    'An external purchase token must be reported.',
    {
      type: ['The constant `external-purchase.token`.', 'external-purchase.token'],
      password: webhookPassword,
      storeRequest: ['The request of the store.'],
    },
  ),
];
