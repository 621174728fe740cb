import type { EpochMillis } from '../shared/time.ts';
import type { Payer } from './payment-figures.ts';

/** A payment of a purchase, which can be the first one of its customer. */
interface FirstPayment {
  readonly purchaseId: string;
  readonly paidAt: EpochMillis;
  readonly now: EpochMillis;
}

/** The customers who have paid, each with the purchase that was first. */
export interface PayerRepository {
  /**
   * Returns the customer as a payer. Stores the purchase as the first one unless another one is stored. Idempotent; of
   * concurrent calls, one purchase is the first.
   */
  register(appName: string, username: string, payment: FirstPayment): Promise<Payer>;
}
