import type { EpochMillis } from '../shared/time.ts';
import type { Payer } from './payment-figures.ts';

/** A payment of a purchase, which can be the first one of its customer. */
interface FirstPayment {
  readonly purchaseId: string;
  readonly paidAt: EpochMillis;
  readonly now: EpochMillis;
  /** Whether the purchase gains the customer, who is created if there is none. */
  readonly isGained: boolean;
  /** Sandbox and production have a first payment each. */
  readonly isSandbox: boolean;
}

interface RegisteredPayer {
  readonly payer: Payer;
  /** Whether there is a customer, found or created. */
  readonly hasCustomer: boolean;
}

/** The customers who have paid, each with the purchase that was first. */
export interface PayerRepository {
  /**
   * Returns the customer as a payer. Stores the purchase as the first one unless another one is stored, and creates the
   * customer. Idempotent; of concurrent calls, one purchase is the first.
   */
  register(appName: string, username: string, payment: FirstPayment): Promise<RegisteredPayer>;
}
