/** The store emulator of the local runtime. Empty in a deployment. */
export interface StoreEmulator {
  /** All requests to stores are sent to it instead. */
  readonly url?: string;
  /** Trusted root certificates in DER, in addition to the roots of the stores. */
  readonly roots: readonly Uint8Array[];
  /** Multiplies the time limits of store calls: the emulator shares a machine with the service and can be slow. */
  readonly timeFactor?: number;
}
