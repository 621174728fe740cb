import { actionDescriptions, actionOperations } from './actions.ts';
import { appDescriptions, appOperations } from './app.ts';
import { customerDescriptions, customerOperations } from './customers.ts';
import type { OperationDescription, SchemaDescription } from './describe.ts';
import { entitlementDescriptions, entitlementOperations } from './entitlements.ts';
import { errorDescriptions } from './errors.ts';
import { eventDescriptions, eventOperations } from './events.ts';
import { figureDescriptions, figureOperations } from './figures.ts';
import { offerDescriptions, offerOperations } from './offers.ts';
import { openIapDescriptions, openIapOperations } from './openiap.ts';
import { processorDescriptions, processorOperations } from './processors.ts';
import { purchaseDescriptions, purchaseOperations } from './purchases.ts';
import { receiptDescriptions } from './receipts.ts';
import { refundRequestDescriptions, refundRequestOperations } from './refund-requests.ts';
import { statsDescriptions, statsOperations } from './stats.ts';
import { storeRequestDescriptions } from './store-requests.ts';
import { validationDescriptions, validationOperations } from './validation.ts';
import { valueDescriptions } from './values.ts';
import { webhookDescriptions, webhookOperations } from './webhooks.ts';

/** Descriptions of all schemas of the API. Functions never load them. */
export const schemaDescriptions: readonly SchemaDescription[] = [
  ...valueDescriptions,
  ...validationDescriptions,
  ...receiptDescriptions,
  ...openIapDescriptions,
  ...customerDescriptions,
  ...entitlementDescriptions,
  ...purchaseDescriptions,
  ...actionDescriptions,
  ...refundRequestDescriptions,
  ...storeRequestDescriptions,
  ...statsDescriptions,
  ...figureDescriptions,
  ...eventDescriptions,
  ...webhookDescriptions,
  ...processorDescriptions,
  ...offerDescriptions,
  ...appDescriptions,
  ...errorDescriptions,
];

/** Descriptions of all operations. */
export const operationDescriptions: readonly OperationDescription[] = [
  ...validationOperations,
  ...openIapOperations,
  ...customerOperations,
  ...entitlementOperations,
  ...purchaseOperations,
  ...actionOperations,
  ...refundRequestOperations,
  ...statsOperations,
  ...figureOperations,
  ...eventOperations,
  ...webhookOperations,
  ...processorOperations,
  ...offerOperations,
  ...appOperations,
];
