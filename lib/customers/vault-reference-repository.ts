/**
 * The vault references of all apps: random ids under which clients refer to a customer of a processor's vault. Customer
 * ids of the processor can be guessed, and a client token of a customer shows the saved payment methods.
 */
export interface VaultReferenceRepository {
  /** Returns the reference of a customer of the vault. Creates it at the first call. */
  getOrCreate(appName: string, customerId: string): Promise<string>;
  /** Returns the reference of a customer of the vault. Undefined if there is none. */
  findReference(appName: string, customerId: string): Promise<string | undefined>;
  /** Deletes the reference of a customer of the vault. Returns whether there was one. */
  delete(appName: string, customerId: string): Promise<boolean>;
  /** Returns the customer of a reference. Undefined if this app has not created the reference. */
  findCustomerId(appName: string, reference: string): Promise<string | undefined>;
}
