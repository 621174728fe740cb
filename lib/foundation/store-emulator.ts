/** The store emulator of the local runtime. Empty in a deployment. */
export interface StoreEmulator {
  /** All requests to stores are sent to it instead. */
  readonly url?: string;
  /** Trusted root certificates in DER, in addition to the roots of the stores. */
  readonly roots: readonly Uint8Array[];
  /** Multiplies the time limits of calls: emulator and table share a machine with the service and can be slow. */
  readonly timeFactor?: number;
  /** Set for a service on one machine. */
  readonly isLocal?: true;
  /** Apps that use the real stores, unlike the others. */
  readonly realApps?: readonly string[];
}

/** Returns the emulator for an app: without URL and roots if the app uses the real stores. */
export const selectEmulator = ({ realApps = [], ...emulator }: StoreEmulator, appName: string): StoreEmulator =>
  realApps.includes(appName) ? { roots: [], isLocal: true } : emulator;

/** On one machine, webhooks can go to the same machine, and resources of AWS are missing. */
export const isLocalService = ({ url, isLocal }: StoreEmulator): boolean => url !== undefined || isLocal === true;
