import type { Purchase } from '../../purchases/purchase.ts';

/** Input for the mapping from App Store transactions to observations, in addition to the transactions. */
export interface MappingContext {
  readonly requestDetails: RequestDetails;
  /** Observations get a refresh token. A refresh requires an App Store Server API key. */
  readonly canRefresh: boolean;
}

/** Details of the requested product that Apple does not report. They apply to the product `productId` only. */
export interface RequestDetails {
  /** Without prefix. */
  readonly productId?: string;
  readonly productType?: NonNullable<Purchase['productType']>;
  readonly priceMicros?: number;
  readonly currency?: string;
}
