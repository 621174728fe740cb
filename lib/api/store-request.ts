import * as v from 'valibot';
import { Platform } from '../foundation/platform.ts';
import { DateTime } from './schemas.ts';

const common = {
  /** Type of the store notification in the store's terms. */
  notificationType: v.string(),
  platform: Platform,
  isSandbox: v.boolean(),
};

/** The store withdrew the consent of a parent for the customer. The app ends the child's use. */
export const RescindedConsent = v.strictObject({
  ...common,
  type: v.literal('consent.rescinded'),
  /** The store account of the customer in the app. */
  appTransactionId: v.string(),
});

/** The app must report an external purchase token to the store. */
export const ExternalPurchase = v.strictObject({
  ...common,
  type: v.literal('external-purchase.token'),
  externalPurchaseId: v.string(),
  tokenCreatedAt: v.exactOptional(DateTime),
});

/** A store's request that only the app can fulfill. */
export const StoreRequest = v.variant('type', [RescindedConsent, ExternalPurchase]);
export type StoreRequest = v.InferOutput<typeof StoreRequest>;
export const storeRequestTypes = ['consent.rescinded', 'external-purchase.token'] as const;
