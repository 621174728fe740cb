import * as v from 'valibot';
import { ProductType } from '../api/schemas.ts';
import { type Platform, platformTokens, withoutPlatform } from '../foundation/platform.ts';
import type { ValidationRequest } from '../stores/store.ts';

const Text = v.pipe(v.string(), v.maxLength(5_000));
const Receipt = v.pipe(v.string(), v.maxLength(2_000_000));

/** The columns of a row that name its purchase or help to find it. */
export const EvidenceFields = v.object({
  originalTransactionId: v.exactOptional(Text),
  token: v.exactOptional(Text),
  receipt: v.exactOptional(Receipt),
  signature: v.exactOptional(Text),
  storeIdKey_collections: v.exactOptional(Receipt),
  storeIdKey_purchases: v.exactOptional(Receipt),
  productId: v.exactOptional(Text),
  type: v.exactOptional(ProductType),
  sandbox: v.exactOptional(v.picklist(['true', 'false'])),
});
export type EvidenceFields = v.InferOutput<typeof EvidenceFields>;
export type EvidenceColumn = keyof EvidenceFields;

/** Columns that any row can have. A format uses them if it lists them. */
export const hintColumns = ['productId', 'type', 'sandbox'] as const satisfies readonly EvidenceColumn[];

/**
 * A query of a store: a validation of evidence, or a refresh by the first refresh token whose purchase the store has.
 */
export type StoreQuery =
  | { readonly validation: ValidationRequest }
  | { readonly refreshTokens: readonly Readonly<Record<string, string>>[] };

/** A way to name a purchase of a platform. */
export interface EvidenceFormat {
  /** Columns that the row must have, in the order of the documentation. */
  readonly required: readonly EvidenceColumn[];
  readonly optional: readonly EvidenceColumn[];
  readonly toQuery: (fields: EvidenceFields) => StoreQuery;
}

/**
 * The ways to name a purchase of each platform; a row must have the columns of exactly one. See
 * docs/guides/move-from-another-validator.md. A row with a receipt imports all purchases of the receipt, any other row
 * imports one. Receipts of Braintree are not accepted, because their validation charges the customer.
 */
export const importFormats: Readonly<Record<Platform, readonly EvidenceFormat[]>> = {
  [platformTokens.appStore]: [
    {
      required: ['originalTransactionId'],
      optional: ['productId', 'sandbox'],
      toQuery: ({ originalTransactionId = '', sandbox }) => ({
        refreshTokens: [{ originalTransactionId, environment: sandbox === 'true' ? 'Sandbox' : 'Production' }],
      }),
    },
    {
      required: ['receipt'],
      optional: ['productId'],
      toQuery: ({ receipt, productId = 'app' }) => ({
        validation: {
          id: productId,
          type: 'application',
          transaction: { type: 'ios-store', appStoreReceipt: receipt },
        },
      }),
    },
  ],
  [platformTokens.googlePlay]: [
    {
      required: ['token'],
      optional: ['productId', 'type'],
      toQuery: ({ token = '', productId = '', type }) => ({
        refreshTokens: [{ purchaseToken: token, kind: toPlayKind(type), productId }],
      }),
    },
    {
      required: ['receipt'],
      optional: ['signature', 'productId', 'type'],
      toQuery: ({ receipt, signature, productId = 'app', type = 'application' as const }) => ({
        validation: {
          id: productId,
          type,
          transaction: { type: 'android-store', receipt, ...(signature !== undefined && { signature }) },
        },
      }),
    },
  ],
  [platformTokens.microsoftStore]: [
    {
      required: ['productId', 'storeIdKey_collections'],
      optional: [],
      toQuery: (fields) => buildMicrosoftStoreQuery(fields, 'non consumable'),
    },
    {
      required: ['productId', 'storeIdKey_purchases'],
      optional: ['storeIdKey_collections'],
      toQuery: (fields) => buildMicrosoftStoreQuery(fields, 'paid subscription'),
    },
  ],
  [platformTokens.stripe]: [{ required: ['token'], optional: ['productId'], toQuery: buildStripeQuery }],
  [platformTokens.serviceStripe]: [{ required: ['token'], optional: ['productId'], toQuery: buildStripeQuery }],
  [platformTokens.braintree]: [
    {
      required: ['token', 'productId'],
      optional: [],
      toQuery: ({ token = '', productId = '' }) => ({
        refreshTokens: [
          { subscription: token, productId },
          { transaction: token, productId },
        ],
      }),
    },
  ],
};

/** The column that a purchase id without its platform prefix fills. Absent if the id is not sufficient for a query. */
export const purchaseIdColumns: Readonly<Partial<Record<Platform, 'originalTransactionId' | 'token'>>> = {
  [platformTokens.appStore]: 'originalTransactionId',
  [platformTokens.googlePlay]: 'token',
  [platformTokens.stripe]: 'token',
  [platformTokens.serviceStripe]: 'token',
  [platformTokens.braintree]: 'token',
};

/** A token can be of either kind, and Google Play is queried for the expected kind first. Default: subscription. */
const toPlayKind = (type: ProductType | undefined): string => {
  if (type === undefined || type === 'paid subscription') return 'subscription';
  return type === 'consumable' || type === 'non consumable' ? type : 'product';
};

function buildMicrosoftStoreQuery(fields: EvidenceFields, type: 'paid subscription' | 'non consumable'): StoreQuery {
  const { productId = '', storeIdKey_collections: collections, storeIdKey_purchases: purchases } = fields;
  return {
    validation: {
      id: productId,
      type,
      transaction: { type: 'store_c-transaction' },
      license: {
        ...(collections !== undefined && { storeIdKey_collections: collections }),
        ...(purchases !== undefined && { storeIdKey_purchases: purchases }),
      },
    },
  };
}

function buildStripeQuery({ token = '' }: EvidenceFields): StoreQuery {
  return { refreshTokens: [{ id: withoutPlatform(token) }] };
}
