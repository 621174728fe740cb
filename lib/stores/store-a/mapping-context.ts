import type { Purchase } from '../../purchases/purchase.ts';

/** What the mapping from App Store transactions to observations needs besides the transactions. */
export interface MappingContext {
  readonly requestDetails: RequestDetails;
  /** Whether observations get a refresh token. A refresh requires an App Store Server API key. */
  readonly canRefresh: boolean;
}

/** Details of the requested product that Apple does not report. They apply to the product `productId` only. */
export interface RequestDetails {
  /** Without prefix. */
  readonly productId?: string;
  readonly productType?: NonNullable<Purchase['productType']>;
  readonly priceMicros?: number;
  readonly currency?: string;
  /** Length of a non-renewing subscription, as an ISO 8601 duration. */
  readonly period?: string;
}
