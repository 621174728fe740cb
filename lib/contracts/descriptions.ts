import { actionDescriptions, actionOperations } from '../actions/contract.ts';
import { annotationDescriptions, annotationOperations } from '../annotations/contract.ts';
import type { OperationDescription, SchemaDescription } from '../api/describe.ts';
import { errorDescriptions } from '../api/errors.ts';
import { pagingDescriptions } from '../api/paging.ts';
import { enumerationDescriptions, formatDescriptions } from '../api/schemas.ts';
import { serviceDescriptions, serviceOperations } from '../api/service.ts';
import { apiKeyDescriptions, apiKeyOperations } from '../apps/api-key-contract.ts';
import { catalogueDescriptions, catalogueOperations } from '../apps/catalogue-contract.ts';
import { commissionRateDescriptions, commissionRateOperations } from '../apps/commission-rate-contract.ts';
import { appDescriptions, appOperations } from '../apps/contract.ts';
import { processorDescriptions, processorOperations } from '../checkout/contract.ts';
import { creditDescriptions, creditOperations } from '../credits/contract.ts';
import { customerClaimDescriptions, customerClaimOperations } from '../customers/claim-contract.ts';
import { customerDescriptions, customerOperations } from '../customers/contract.ts';
import { entitlementDescriptions, entitlementOperations } from '../entitlements/contract.ts';
import { eventDescriptions, eventOperations } from '../events/contract.ts';
import { offerDescriptions, offerOperations } from '../offers/contract.ts';
import { openIapDescriptions, openIapOperations } from '../openiap/contract.ts';
import { dueDescriptions, dueOperations } from '../problems/contract.ts';
import { purchaseEndpointDescriptions, purchaseEndpointOperations } from '../purchases/contract.ts';
import { purchaseDescriptions } from '../purchases/purchase-contract.ts';
import { timelineDescriptions, timelineOperations } from '../purchases/timeline-contract.ts';
import { transactionDescriptions, transactionOperations } from '../purchases/transaction-contract.ts';
import { refundRequestDescriptions, refundRequestOperations } from '../refunds/contract.ts';
import { searchDescriptions, searchOperations } from '../search/contract.ts';
import { breakdownDescriptions, breakdownOperations } from '../statistics/breakdown-contract.ts';
import { cohortDescriptions, cohortOperations } from '../statistics/cohort-contract.ts';
import { statsDescriptions, statsOperations } from '../statistics/contract.ts';
import { creditStatsDescriptions, creditStatsOperations } from '../statistics/credit-stats-contract.ts';
import { figuresDescriptions } from '../statistics/figures-contract.ts';
import { mrrDescriptions, mrrOperations } from '../statistics/mrr-contract.ts';
import { revenueDescriptions, revenueOperations } from '../statistics/revenue-contract.ts';
import { storeDescriptions, storeOperations } from '../stores/contract.ts';
import { storeRequestDescriptions } from '../stores/store-request-contract.ts';
import { validationDescriptions, validationOperations } from '../validation/contract.ts';
import { evidenceDescriptions } from '../validation/evidence-contract.ts';
import { validationRequestDescriptions } from '../validation/request-contract.ts';
import { webhookDescriptions, webhookOperations } from '../webhooks/contract.ts';

/** Descriptions of all schemas of the API. Functions never load them. */
export const schemaDescriptions: readonly SchemaDescription[] = [
  ...enumerationDescriptions,
  ...formatDescriptions,
  ...pagingDescriptions,
  ...validationDescriptions,
  ...validationRequestDescriptions,
  ...evidenceDescriptions,
  ...openIapDescriptions,
  ...customerDescriptions,
  ...customerClaimDescriptions,
  ...entitlementDescriptions,
  ...creditDescriptions,
  ...purchaseDescriptions,
  ...purchaseEndpointDescriptions,
  ...timelineDescriptions,
  ...transactionDescriptions,
  ...actionDescriptions,
  ...refundRequestDescriptions,
  ...storeRequestDescriptions,
  ...statsDescriptions,
  ...breakdownDescriptions,
  ...figuresDescriptions,
  ...revenueDescriptions,
  ...creditStatsDescriptions,
  ...mrrDescriptions,
  ...cohortDescriptions,
  ...annotationDescriptions,
  ...eventDescriptions,
  ...webhookDescriptions,
  ...processorDescriptions,
  ...offerDescriptions,
  ...appDescriptions,
  ...apiKeyDescriptions,
  ...catalogueDescriptions,
  ...commissionRateDescriptions,
  ...storeDescriptions,
  ...serviceDescriptions,
  ...errorDescriptions,
  ...searchDescriptions,
  ...dueDescriptions,
];

/** Descriptions of all operations. */
export const operationDescriptions: readonly OperationDescription[] = [
  ...validationOperations,
  ...openIapOperations,
  ...customerOperations,
  ...customerClaimOperations,
  ...entitlementOperations,
  ...creditOperations,
  ...purchaseEndpointOperations,
  ...timelineOperations,
  ...transactionOperations,
  ...actionOperations,
  ...refundRequestOperations,
  ...statsOperations,
  ...breakdownOperations,
  ...revenueOperations,
  ...creditStatsOperations,
  ...mrrOperations,
  ...cohortOperations,
  ...annotationOperations,
  ...eventOperations,
  ...webhookOperations,
  ...processorOperations,
  ...offerOperations,
  ...appOperations,
  ...apiKeyOperations,
  ...catalogueOperations,
  ...commissionRateOperations,
  ...storeOperations,
  ...serviceOperations,
  ...searchOperations,
  ...dueOperations,
];
