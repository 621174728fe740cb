import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation } from '../api/describe.ts';
import { OptionalText, ProductType, QueryFlag } from '../api/schemas.ts';
import { namedRecord } from '../foundation/named-record.ts';

/** A product in the catalogue of the app. */
export const CatalogueProduct = v.strictObject({
  type: ProductType,
  billingPeriod: OptionalText,
  group: OptionalText,
  entitlements: v.exactOptional(v.array(v.string())),
  credits: v.exactOptional(v.record(v.string(), v.number())),
  expires: OptionalText,
});

const catalogue = v.record(v.string(), CatalogueProduct);

// Spec: not shown. The products of the app, in the format of the command `app set-catalogue`.
export const getCatalogue = defineContract({
  id: 'get-catalogue',
  area: 'app',
  summary: 'Get the products of the app with their entitlements',
  method: 'GET',
  path: '/v3/catalogue',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'app.read',
  response: catalogue,
  permissions: [],
});

/** A customer whose entitlements a new catalogue would change. */
const AffectedCustomer = v.strictObject({
  applicationUsername: v.string(),
  gains: v.array(v.string()),
  loses: v.array(v.string()),
});

/** Numbers of customers who would gain and lose an entitlement. */
const EntitlementChange = v.strictObject({ gains: v.number(), loses: v.number() });

/** What a new catalogue would change at once. */
export const CataloguePreview = v.strictObject({
  entitlements: v.record(v.string(), EntitlementChange),
  /** The first 100 affected customers. */
  customers: v.array(AffectedCustomer),
  checkedPurchases: v.number(),
  checkedCustomers: v.number(),
  isComplete: v.boolean(),
});
export type CataloguePreview = v.InferOutput<typeof CataloguePreview>;

const CatalogueChange = v.strictObject({
  ok: v.literal(true),
  products: v.number(),
  /** Present for a dry run, which changes nothing. */
  preview: v.exactOptional(CataloguePreview),
});

// Spec: not shown. Replaces the products of the app.
export const setCatalogue = defineContract({
  id: 'set-catalogue',
  area: 'app',
  summary: 'Replace the products of the app, or preview the effect',
  method: 'PUT',
  path: '/v3/catalogue',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'app.changed',
  query: v.object({ dryRun: QueryFlag }),
  body: namedRecord(v.string(), v.unknown()),
  response: CatalogueChange,
  isLongRunning: true,
  permissions: ['write', 'indexes'],
  writes: ['catalogue'],
});

const descriptions = [
  describeObject('CatalogueProduct', CatalogueProduct, 'A product in the catalogue of the app.', {
    type: ['Type of the product.'],
    billingPeriod: ['ISO 8601 duration between two payments.', 'P1M'],
    group: ['Subscription group.', 'premium-plans'],
    entitlements: ['The entitlements that the product gives.', ['premium']],
    credits: ['Units of credits that each payment gives, by name.', { coins: 100 }],
    expires: ['End of the credits: `period`, `never` or an ISO 8601 duration after the payment.', 'P90D'],
  }),
  describeObject('AffectedCustomer', AffectedCustomer, 'A customer whose entitlements a new catalogue would change.', {
    applicationUsername: ["The customer's username.", 'alice'],
    gains: ['Entitlements that the customer would gain.', ['premium']],
    loses: ['Entitlements that the customer would lose.', []],
  }),
  describeObject('EntitlementChange', EntitlementChange, 'Customers who would gain and lose an entitlement.', {
    gains: ['Number of customers who would gain it.', 12],
    loses: ['Number of customers who would lose it.', 0],
  }),
  describeObject('CataloguePreview', CataloguePreview, 'What a new catalogue would change.', {
    entitlements: [
      'Number of customers who would gain and lose each entitlement.',
      { premium: { gains: 12, loses: 0 } },
    ],
    customers: ['The first 100 affected customers.'],
    checkedPurchases: ['Number of purchases that were read.', 1200],
    checkedCustomers: ['Number of customers whose entitlements were computed.', 40],
    isComplete: ['All purchases were read. A request reads at most 20,000, and 2,000 customers.', true],
  }),
  describeObject('CatalogueChange', CatalogueChange, 'Result of replacing the products of the app.', {
    ok: ['The constant true.', true],
    products: ['Number of products of the new catalogue.', 6],
    preview: ['What the catalogue would change. Only present for a dry run.'],
  }),
];

const operations = [
  describeOperation(getCatalogue, {
    description:
      'Returns the products of the app, by product id with or without platform prefix, in the format of the command `app set-catalogue`. The header `ETag` identifies this version.',
  }),
  describeOperation(setCatalogue, {
    description:
      'Replaces the products of the app. With the header `If-Match` and the `ETag` of `GET /v3/catalogue`, a catalogue that was changed since is not overwritten (412). Takes effect within 15 seconds for all customers. A dry run changes nothing and returns who would gain and lose entitlements.',
    query: { dryRun: ['Preview the change only.', true] },
    bodyExamples: {
      products: {
        summary: 'Two products that give one entitlement',
        value: {
          'store_a:premium_monthly': { type: 'paid subscription', entitlements: ['premium'] },
          premium_forever: { type: 'non consumable', entitlements: ['premium'] },
        },
      },
    },
  }),
];

export const catalogueApi: ApiPart = { descriptions, operations };
